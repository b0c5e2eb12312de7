/**
 * The reference page (`GET /docs`): every operation of the OpenAPI document, with a form that asks this server under a key that
 * the reader enters. Everything comes from this process; the page's policy lets the browser ask nobody else.
 */
import { Fault } from "../core/fault.ts";
import type { Mount } from "./app.ts";
import { type Publication, publish } from "./publication.ts";
import { apiPrefix } from "./routes.ts";

const docsPath = "/docs";

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>OpenPO API reference</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <noscript>This page needs JavaScript. The description it shows is at <a href="${apiPrefix}/openapi.json">${apiPrefix}/openapi.json</a>.</noscript>
    <div id="reference"></div>
    <script src="${docsPath}/reference.js"></script>
    <script src="${docsPath}/start.js"></script>
  </body>
</html>
`;

/** The key is kept by the page alone, and only until it is left. */
const settings = {
  url: `${apiPrefix}/openapi.json`,
  theme: "default",
  layout: "modern",
  withDefaultFonts: false,
  persistAuth: false,
  telemetry: false,
  hideClientButton: true,
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

/** @param loadBundle the page's program; null when this installation does not carry it. It is loaded when first asked for. */
export function createDocs(loadBundle: () => Promise<string | null>): Mount {
  const javascript = "text/javascript; charset=utf-8";
  let program: Promise<Publication | null> | null = null;
  const loadProgram = async (): Promise<Publication | null> => {
    const bundle = await loadBundle();
    // The script would ask for a map that is not served.
    return bundle === null ? null : publish(bundle.replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"), javascript);
  };
  const pages: Readonly<Record<string, () => Publication | Promise<Publication | null>>> = {
    [docsPath]: constant(publish(page, "text/html; charset=utf-8")),
    [`${docsPath}/start.js`]: constant(publish(start, javascript)),
    [`${docsPath}/reference.js`]: () => (program ??= loadProgram()),
  };
  return {
    path: docsPath,
    async handle(request) {
      const { pathname } = new URL(request.url);
      const found = Object.hasOwn(pages, pathname) ? await pages[pathname]?.() : null;
      if (found === null || found === undefined) return null;
      if (request.method !== "GET" && request.method !== "HEAD")
        throw new Fault("METHOD_NOT_ALLOWED", `${request.method} is not supported here.`, {
          allow: ["GET"],
          action: "Use GET.",
        });
      const response = await found.answer(request);
      response.headers.set("Content-Security-Policy", policy);
      response.headers.set("X-Content-Type-Options", "nosniff");
      response.headers.set("Referrer-Policy", "no-referrer");
      return response;
    },
  };
}

const constant =
  <T>(value: T) =>
  (): T =>
    value;
