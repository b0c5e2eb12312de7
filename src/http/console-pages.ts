/**
 * The console's page, in the reader's language, and its files (`/console`), as they were built. Files with a hash in
 * their names may be kept for good; the page is requested again each time. The page's policy lets it load from and call
 * this server alone, and forbids scripts made of text. Pictures may come from the storefront of the shop for whose
 * session the page is loaded. The page itself says from where, so that it asks for none that its policy refuses.
 */
import { languageLiked } from "../base/text/language.ts";
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

const decoded = (content: string | Uint8Array): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

const indexName = "index.html";

/** Names of the pages of further languages: `index.de.html`. */
const translatedName = /^index\.([a-z]+)\.html$/;

const nameOf = (language: string): string => (language === firstLanguage ? indexName : `index.${language}.html`);

/** Language of `index.html`. */
const firstLanguage = "en";

/** The mark, as programs show it that know its address. Built files have a hash in their names. */
export const markName = "mark.svg";

/** Reader of a page, as far as it is made for them. */
interface Reader {
  /** Origins of the pictures that the page may show; asked for the page alone. */
  readonly picturesOf?: () => Promise<readonly string[]>;
  /** Data attributes by their names: ways to sign in that the page offers. */
  readonly offers?: Readonly<Record<string, string>>;
  /** The chosen language; without one the page has the one that the browser likes best. */
  readonly language?: string | null;
}

/** Answers requests for the page and its files; null for what is not there. */
export type ConsolePages = (context: RequestContext, reader?: Reader) => Promise<Response | null>;

/**
 * @param loadFiles  the built files by name, `index.html` among them; null when this installation has none. They are
 *   loaded when first asked for.
 */
export function createConsolePages(
  loadFiles: () => Promise<ReadonlyMap<string, string | Uint8Array<ArrayBuffer>> | null>,
): ConsolePages {
  let loading: ReturnType<typeof published> | null = null;
  const published = async () => {
    const files = (await loadFiles()) ?? new Map([[indexName, notBuilt]]);
    const translated = [...files.keys()].flatMap((name) => translatedName.exec(name)?.[1] ?? []);
    return {
      pages: new Map(
        [firstLanguage, ...translated].map((language) => [language, decoded(files.get(nameOf(language)) ?? notBuilt)]),
      ),
      files: new Map(
        [...files, [markName, markSvg] as const].flatMap(([name, content]) => {
          const type = contentTypes[name.slice(name.lastIndexOf(".") + 1)];
          return type === undefined ? [] : [[name, publish(content, type)] as const];
        }),
      ),
    };
  };
  /** Pages without pictures, by their language and what they offer. */
  const offering = new Map<string, Publication>();
  return async ({ request, path }, { picturesOf, offers = {}, language: chosen = null } = {}) => {
    const name = path.slice(consolePath.length + 1);
    const { pages, files } = await (loading ??= published());
    // Places of the console are paths; a file's name has a dot.
    if (name !== indexName && !translatedName.test(name) && name.includes(".")) {
      const file = files.get(name);
      if (file === undefined) return null;
      requireGet(request);
      const response = await file.answer(request);
      const caching = name === markName ? "max-age=86400" : "max-age=31536000, immutable";
      response.headers.set("Cache-Control", `public, ${caching}`);
      return guarded(response, []);
    }
    const languages = [...pages.keys()];
    const language =
      languages.find((each) => each === chosen) ??
      languageLiked(request.header("accept-language"), languages) ??
      firstLanguage;
    const index = pages.get(language) ?? notBuilt;
    const found = files.get(nameOf(language));
    if (found === undefined) return null;
    requireGet(request);
    const pictures = (await picturesOf?.()) ?? [];
    const offered = Object.entries(offers)
      .map(([name, value]) => ` data-${name}="${value}"`)
      .join("");
    // A page with other pictures is another one for a cache, too.
    const pageWith = (attributes: string): Publication =>
      publish(index.replace("<html", `<html${attributes}`), htmlType);
    const plain = (): Publication => {
      const key = `${language}${offered}`;
      const made = offered === "" ? found : (offering.get(key) ?? pageWith(offered));
      if (offered !== "") offering.set(key, made);
      return made;
    };
    const ofPlace = (): Publication =>
      pictures.length === 0 ? plain() : pageWith(` data-pictures="${pictures.join(" ")}"${offered}`);
    const response = await ofPlace().answer(request);
    response.headers.set("Vary", "Accept-Encoding, Accept-Language, Cookie");
    return guarded(response, pictures);
  };
}

/** The answer with what a browser may do with it. */
function guarded(response: Response, pictures: readonly string[]): Response {
  response.headers.set("Content-Security-Policy", policyWith(pictures));
  response.headers.set("Referrer-Policy", "no-referrer");
  return response;
}
