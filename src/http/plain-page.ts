/** Page without scripts, in the console's colours: for a browser where the console has nothing to show. */
import { iconAddress } from "./mark.ts";

/** With the colours of the console's page of tokens. */
const styles = `
      :root { color-scheme: light dark; }
      body { margin: 0; background: light-dark(#f6f7f7, #111415); color: light-dark(#15191b, #edf0f1);
        font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
      main { box-sizing: border-box; max-inline-size: 40rem; margin: 3rem auto; padding: 1.5rem 2rem;
        border: 1px solid light-dark(#e3e6e7, #2b3235); border-radius: 0.75rem; background: light-dark(#fff, #191d1f); }
      @media (width < 43rem) { main { margin: 1rem; padding: 1rem 1.25rem; } }
      img { inline-size: 2.5rem; block-size: 2.5rem; }
      h1 { margin: 0.5rem 0 0.75rem; font-size: 1.5rem; line-height: 1.25; }
      a { color: light-dark(#0a6570, #62cad6); }
      li { margin: 0.75rem 0; }
      code { font-size: 0.95em; }`;

/** A page with this heading. @param content  its HTML below that. */
export const plainPage = (heading: string, content: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${heading}</title>
    <link rel="icon" href="${iconAddress}">
    <style>${styles}
    </style>
  </head>
  <body>
    <main>
      <img src="${iconAddress}" alt="">
      <h1>${heading}</h1>
      ${content}
    </main>
  </body>
</html>
`;

/** Policy of the page: no scripts, nothing from other servers. */
export const plainPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
