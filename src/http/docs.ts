/**
 * The reference page (`GET /docs`): every operation of the OpenAPI document, with a form that calls this server with a
 * key that the reader enters. Everything comes from this process; the page's policy forbids the browser any other
 * address.
 */
import { iconAddress } from "./mark.ts";
import { type Publication, publish, publishLater } from "./openapi/publication.ts";
import { apiPrefix } from "./routes.ts";
import { requireGet, type Surface } from "./surface.ts";

const docsPath = "/docs";

const docsPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>OpenPO API reference</title>
    <link rel="icon" href="${iconAddress}">
  </head>
  <body>
    <noscript>This page needs JavaScript. The description it shows is at <a href="${apiPrefix}/openapi.json">${apiPrefix}/openapi.json</a>.</noscript>
    <div id="reference"></div>
    <script src="${docsPath}/reference.js"></script>
    <script src="${docsPath}/start.js"></script>
  </body>
</html>
`;

/** Colours of text in place of the program's own, some of which are hard to read. */
const colours = `
.light-mode { --scalar-color-2: #4f575b; --scalar-color-3: #596166; --scalar-color-green: #00694a; --scalar-color-blue: #00609c;
  --scalar-color-yellow: #7a5600; --scalar-color-orange: #8f4400; --scalar-color-red: #b3001b; --scalar-color-accent: #0a6570;
  --scalar-color-query: #0a6570; }
.dark-mode { --scalar-color-2: #b9c0c4; --scalar-color-3: #a3acb1; --scalar-color-red: #ffaaa5; --scalar-color-accent: #62cad6; }
`;

/** The key is kept by the page alone, and only until it is left. */
const settings = {
  url: `${apiPrefix}/openapi.json`,
  theme: "default",
  customCss: colours,
  layout: "modern",
  withDefaultFonts: false,
  persistAuth: false,
  telemetry: false,
  hideClientButton: true,
  // Fields stand in the document's order, which goes from identity to notes.
  orderSchemaPropertiesBy: "preserve",
  orderRequiredPropertiesFirst: false,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  authentication: { preferredSecurityScheme: "apiKey" },
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
} as const;

const start = `Scalar.createApiReference("#reference", ${JSON.stringify(settings)});\n`;

/** Scripts and requests of this server only; styles are made by the script itself. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const javascript = "text/javascript; charset=utf-8";

/**
 * @param loadBundle  the page's program; null when this installation does not carry it. It is loaded when first asked
 *   for.
 */
export function createDocs(loadBundle: () => Promise<string | null>): Surface {
  const program = publishLater(async () => {
    const bundle = await loadBundle();
    // The script would ask for a map that is not served.
    return bundle?.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n") ?? null;
  }, javascript);
  const html = publish(docsPage, "text/html; charset=utf-8");
  const script = publish(start, javascript);
  const files = new Map<string, () => Publication | Promise<Publication | null>>([
    [docsPath, () => html],
    [`${docsPath}/start.js`, () => script],
    [`${docsPath}/reference.js`, program],
  ]);
  return {
    path: docsPath,
    async handle({ request, path }) {
      const found = (await files.get(path)?.()) ?? null;
      if (found === null) return null;
      requireGet(request);
      const response = await found.answer(request);
      response.headers.set("Content-Security-Policy", policy);
      response.headers.set("Referrer-Policy", "no-referrer");
      return response;
    },
  };
}
