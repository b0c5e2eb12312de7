/**
 * Page that a browser sees at `/`: one page without scripts that leads to what this server has. Other clients are told
 * that there is nothing, as at any unknown path.
 */
import { iconAddress, markInPage } from "./mark.ts";
import { type Publication, publish, publishLater } from "./openapi/publication.ts";
import { apiPrefix } from "./routes.ts";
import { type HttpRequest, requireGet, type Surface } from "./surface.ts";

const readmePath = "/README.md";

/** A link of the page: where it leads, and what is there. */
type Link = readonly [path: string, title: string, text: string];

const reference: Link = [
  "/docs",
  "API reference",
  "Every operation with an example of the demo shop. Enter a key there and send requests.",
];

const consoleLink: Link = [
  "/console",
  "Console",
  "For people: sign in with the link that the first start printed, or with a key.",
];

const further: readonly Link[] = [
  [`${apiPrefix}/openapi.json`, "OpenAPI document", "The same description for generators and tools."],
  ["/healthz", "Health", "Whether the process is up; /readyz says whether it can serve."],
];

const readmeLink: Link = [
  readmePath,
  "README",
  "First steps, the command openpo, settings, and how to connect an agent.",
];

const item = ([path, title, text]: Link): string => `<li><a href="${path}"><strong>${title}</strong> ${text}</a></li>`;

const htmlOf = (shown: readonly Link[]): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>OpenPO</title>
    <link rel="icon" href="${iconAddress}">
    <style>
      :root { color-scheme: light dark; --line: light-dark(#e3e6e7, #2b3235); --accent: light-dark(#0a6570, #62cad6);
        --quiet: light-dark(#596166, #a3acb1); --card: light-dark(#fff, #191d1f); --hover: light-dark(#f2f5f5, #202629); }
      * { box-sizing: border-box; }
      body { max-width: 40rem; margin: 0 auto; padding: 10vh 1rem 3rem; font: 0.9375rem/1.5 system-ui, sans-serif;
        background: light-dark(#f6f7f7, #111415); color: light-dark(#15191b, #edf0f1); }
      svg { display: block; width: 2.5rem; height: 2.5rem; }
      h1 { margin: 1rem 0 0.25rem; font-size: 1.5rem; line-height: 1.25; }
      p { margin: 0.5rem 0; color: var(--quiet); }
      ul { margin: 1.5rem 0; padding: 0; list-style: none; border: 1px solid var(--line); border-radius: 0.75rem;
        background: var(--card); overflow: hidden; }
      li + li { border-top: 1px solid var(--line); }
      li > a { display: block; padding: 0.75rem 1rem; color: var(--quiet); text-decoration: none; }
      li > a:hover { background: var(--hover); }
      li > a:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
      strong { display: block; color: var(--accent); font-weight: 600; }
      code { font-size: 0.9em; overflow-wrap: anywhere; }
    </style>
  </head>
  <body>
    ${markInPage}
    <h1>OpenPO</h1>
    <p>Purchase orders with suppliers, over HTTP. This server is running.</p>
    <ul>
      ${shown.map(item).join("\n      ")}
    </ul>
    <p>Agents connect to <code>/mcp</code> (Model Context Protocol), with the same keys as the API.</p>
    <p>The first start printed the keys of the demo shop in its terminal. The operator makes another one with
      <code>openpo key create --shop demo --name "my key" --scope write</code>.</p>
  </body>
</html>
`;

/** No scripts, nothing from other servers. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const html = "text/html; charset=utf-8";

/** @param loadReadme  the README; null when this installation does not carry it. It is loaded when first asked for. */
export function createStartPage(loadReadme: () => Promise<string | null>): readonly Surface[] {
  const readme = publishLater(loadReadme, "text/plain; charset=utf-8");
  const whole = publish(htmlOf([reference, readmeLink, consoleLink, ...further]), html);
  const short = publish(htmlOf([reference, consoleLink, ...further]), html);
  return [
    startPage("/", readsHtml, async () => ((await readme()) === null ? short : whole)),
    startPage(readmePath, () => true, readme),
  ];
}

/** True if the client is a browser: it names HTML among what it accepts. */
const readsHtml = (request: HttpRequest): boolean => /\btext\/html\b/i.test(request.header("accept") ?? "");

/** One path without anything below it. */
function startPage(
  path: string,
  isFor: (request: HttpRequest) => boolean,
  load: () => Promise<Publication | null>,
): Surface {
  return {
    path,
    async handle({ request, path: requestPath }) {
      if (requestPath !== path || !isFor(request)) return null;
      const found = await load();
      if (found === null) return null;
      requireGet(request);
      const response = await found.answer(request);
      response.headers.append("Vary", "Accept");
      response.headers.set("Content-Security-Policy", policy);
      response.headers.set("Referrer-Policy", "no-referrer");
      return response;
    },
  };
}
