/**
 * Page that a browser sees at `/`: one page without scripts that leads to what this server has. Other clients are told
 * that there is nothing, as at any unknown path.
 */
import { iconAddress } from "./mark.ts";
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

const item = ([path, title, text]: Link): string => `<li><a href="${path}">${title}</a><br>${text}</li>`;

const htmlOf = (shown: readonly Link[]): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>OpenPO</title>
    <link rel="icon" href="${iconAddress}">
    <style>
      :root { color-scheme: light dark; }
      body { max-width: 40rem; margin: 3rem auto; padding: 0 1.5rem; font: 1rem/1.5 system-ui, sans-serif; }
      li { margin: 0.75rem 0; }
      code { font-size: 0.95em; }
    </style>
  </head>
  <body>
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
