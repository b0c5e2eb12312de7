/**
 * The console's page and its files (`/console`), as they were built. Files with a hash in their names may be kept for
 * good; the page is requested again each time. The page's policy lets it load from and call this server alone, and
 * forbids scripts made of text. Pictures may come from the storefront of the shop for whose session the page is loaded.
 * The page itself says from where, so that it asks for none that its policy refuses.
 */
import { iconAddress, markSvg } from "./mark.ts";
import { requireGet, type RequestContext } from "./surface.ts";
import { type Publication, publish } from "./openapi/publication.ts";

/** Where the console is. */
export const consolePath = "/console";

const htmlType = "text/html; charset=utf-8";

const contentTypes: Readonly<Record<string, string>> = {
  html: htmlType,
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  woff2: "font/woff2",
  svg: "image/svg+xml",
  webp: "image/webp",
  txt: "text/plain; charset=utf-8",
};

/** The policy of a page that may show pictures of these origins, too. */
const policyWith = (pictures: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' data:", ...pictures].join(" "),
    "font-src 'self'",
    "connect-src 'self'",
    // Files that the page itself has read: the PDF that will be attached.
    "frame-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");

const notBuilt = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>OpenPO</title>
    <link rel="icon" href="${iconAddress}">
  </head>
  <body>
    <h1>The console is not built</h1>
    <p>In a checkout, <code>npm ci</code> builds it, and so does <code>npm run build:console</code>. Then start the service again.</p>
  </body>
</html>
`;

const textOf = (content: string | Uint8Array): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

const indexName = "index.html";

/** The mark, as programs show it that know its address. Built files have a hash in their names. */
export const markName = "mark.svg";

/**
 * Answers requests for the page and its files; null for what is not there.
 *
 * @param picturesOf  origins of the pictures that the page may show; asked for the page alone.
 * @param offered     what the page offers whoever signs in, as data attributes by their names.
 */
export type ConsolePages = (
  context: RequestContext,
  picturesOf?: () => Promise<readonly string[]>,
  offered?: Readonly<Record<string, string>>,
) => Promise<Response | null>;

/**
 * @param loadFiles  the built files by name, `index.html` among them; null when this installation has none. They are
 *   loaded when first asked for.
 */
export function createConsolePages(
  loadFiles: () => Promise<ReadonlyMap<string, string | Uint8Array<ArrayBuffer>> | null>,
): ConsolePages {
  let loading: Promise<{ readonly index: string; readonly files: ReadonlyMap<string, Publication> }> | null = null;
  const published = async () => {
    const files = (await loadFiles()) ?? new Map([[indexName, notBuilt]]);
    return {
      index: textOf(files.get(indexName) ?? notBuilt),
      files: new Map(
        [...files, [markName, markSvg] as const].flatMap(([name, content]) => {
          const type = contentTypes[name.slice(name.lastIndexOf(".") + 1)];
          return type === undefined ? [] : [[name, publish(content, type)] as const];
        }),
      ),
    };
  };
  /** Pages without pictures, by what they offer. */
  const offering = new Map<string, Publication>();
  return async ({ request, path }, picturesOf, offers = {}) => {
    const name = path.slice(consolePath.length + 1);
    const { index, files } = await (loading ??= published());
    // Places of the console are paths; a file's name has a dot.
    const isPlace = name === indexName || !name.includes(".");
    const found = files.get(isPlace ? indexName : name);
    if (found === undefined) return null;
    requireGet(request);
    const pictures = isPlace ? ((await picturesOf?.()) ?? []) : [];
    const offered = Object.entries(offers)
      .map(([name, value]) => ` data-${name}="${value}"`)
      .join("");
    // A page with other pictures is another one for a cache, too.
    const pageWith = (attributes: string): Publication =>
      publish(index.replace("<html", `<html${attributes}`), htmlType);
    const plain = (): Publication => {
      const made = offered === "" ? found : (offering.get(offered) ?? pageWith(offered));
      if (offered !== "") offering.set(offered, made);
      return made;
    };
    const ofPlace = (): Publication =>
      pictures.length === 0 ? plain() : pageWith(` data-pictures="${pictures.join(" ")}"${offered}`);
    const response = await (isPlace ? ofPlace() : found).answer(request);
    const caching = name === markName ? "max-age=86400" : "max-age=31536000, immutable";
    if (!isPlace) response.headers.set("Cache-Control", `public, ${caching}`);
    response.headers.set("Content-Security-Policy", policyWith(pictures));
    response.headers.set("Referrer-Policy", "no-referrer");
    return response;
  };
}
