/**
 * Builds the console into `dist/console`: a page for each language (`index.html`, `index.de.html`), and scripts and
 * styles whose names have a hash of their content. `npm ci` runs it (`prepare`), and `npm run build` for the package.
 * `--kit` builds also the kit, a page for whoever changes the console, and `--out` into another folder.
 */
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { build, type Plugin } from "esbuild";
import { iconNames } from "./icons/names.ts";
import type { texts as english } from "./texts/en/texts.ts";
import { type Language, languages, type Translated } from "./texts/languages.ts";
import { iconAddress, markDrawing } from "../src/http/mark.ts";

const folder = import.meta.dirname;
const { values: wanted } = parseArgs({
  options: {
    kit: { type: "boolean", default: false },
    out: { type: "string", default: path.join(folder, "../dist/console") },
  },
});
const outdir = path.resolve(wanted.out);

const entry = path.join(folder, "app.tsx");

/**
 * Small parts that many screens share. As files of their own they would weigh twice what they do in the first page, and
 * each would be a request.
 */
const shared = [
  "data/packs.ts",
  "data/reading.ts",
  "operator/as-operator.ts",
  "parts/dialogs/ask-first.tsx",
  "parts/dialogs/dialog.tsx",
  "parts/dialogs/shown-once.tsx",
  "parts/dotted.tsx",
  "parts/fields/copy-field.tsx",
  "parts/fields/field-value.tsx",
  "parts/frame/failed.ts",
  "parts/frame/here.ts",
  "parts/lists/facts.tsx",
  "parts/lists/table-head.tsx",
  "parts/owner-only.tsx",
  "parts/sending.tsx",
  "parts/service-says.tsx",
];

/**
 * Screens that are loaded with each other, for people go from one to the other: what they share is no file of its own.
 */
const together: readonly (readonly string[])[] = [
  ["keys/keys.tsx", "keys/connect.tsx", "activity/activity.tsx"],
  ["receive/dock.tsx", "receive/receive.tsx"],
];

/**
 * Files that are loaded later, each with the file that is there by then. That is the one that loads it if it is loaded
 * later itself, else the entry. The sources say so: esbuild finds files in another order each time.
 */
const before = ((): ReadonlyMap<string, string> => {
  const loads = globSync("**/*.{ts,tsx}", { cwd: folder }).flatMap((name) => {
    const importer = path.join(folder, name);
    const found = readFileSync(importer, "utf8").matchAll(/ import\("(\.[^"]+)"\)/g);
    return [...found].map(([, target = ""]) => ({ importer, file: path.join(path.dirname(importer), target) }));
  });
  const later = new Set(loads.map(({ file }) => file));
  return new Map(
    [...later].map((file) => {
      const importers = loads.filter((load) => load.file === file).map(({ importer }) => importer);
      const [first = entry] = importers.sort();
      return [file, importers.every((importer) => later.has(importer)) ? first : entry];
    }),
  );
})();

/**
 * Lets every screen that is loaded later import the whole first page. esbuild makes a file of the modules that the same
 * entry points share. So the first page becomes one file, and not one for each set of screens that use a part of it.
 * What a later screen loads itself may import that screen, which is there by then.
 */
const oneFirstFile: Plugin = {
  name: "one-first-file",
  setup(builder) {
    const more = (file: string, lines: readonly string[]) => ({
      contents: [readFileSync(file, "utf8"), ...lines].join("\n"),
      loader: "tsx" as const,
    });
    builder.onLoad({ filter: /\.tsx?$/ }, ({ path: file }) => {
      if (file === entry)
        return more(
          file,
          shared.map((name) => `export * from "./${name}";`),
        );
      const there = before.get(file);
      if (there === undefined) return null;
      const beside = together.filter((group) => group.includes(path.relative(folder, file))).flat();
      const needed = [there, ...beside.map((name) => path.join(folder, name)).filter((other) => other !== file)];
      return more(
        file,
        needed.map((name) => `import ${JSON.stringify(name)};`),
      );
    });
  },
};

/** Gives the texts of this language in place of the English ones. */
const textsIn = (language: Language): Plugin => ({
  name: "texts",
  setup(builder) {
    builder.onResolve({ filter: /^\.[./]*\/texts\/en\/.+\.ts$/ }, ({ path: name }) => ({
      path: path.join(folder, "texts", language, name.slice(name.indexOf("/en/") + 4)),
    }));
  },
});

interface Built {
  readonly file: string;
  readonly imports: readonly string[];
}

/** The built file of an entry, and what it imports. */
type BuiltFrom = (name: string) => Built;

async function buildIn(language: Language): Promise<{ readonly builtFrom: BuiltFrom; readonly font: string }> {
  const { metafile } = await build({
    entryPoints: ["app.tsx", "styles.css"].map((name) => path.join(folder, name)),
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["es2023"],
    minify: true,
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".woff2": "file", ".webp": "file" },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    define: { hasKit: String(wanted.kit), builtLanguage: JSON.stringify(language) },
    plugins: [textsIn(language), oneFirstFile],
    metafile: true,
    logLevel: "warning",
  });

  const builtFrom: BuiltFrom = (name) => {
    const found = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
      entryPoint?.endsWith(`console/${name}`),
    );
    if (found === undefined) throw new Error(`${name} was not built`);
    const [file, { imports }] = found;
    const needed = imports.filter(({ kind }) => kind === "import-statement").map((each) => path.basename(each.path));
    return { file: path.basename(file), imports: needed };
  };
  const font = Object.keys(metafile.outputs).find((file) => /inter-latin-(?!ext)[^/]*\.woff2$/.test(file));
  if (font === undefined) throw new Error("the font was not built");
  return { builtFrom, font: path.basename(font) };
}

rmSync(outdir, { recursive: true, force: true });
mkdirSync(outdir, { recursive: true });
/** The icons that the console names, as symbols: the page carries them, so that none is asked for. */
const icons = readFileSync(path.join(folder, "icons/icons.svg"), "utf8");
const missing = iconNames.filter((name) => !icons.includes(`id="icon-${name}"`));
if (missing.length > 0) throw new Error(`icons.svg lacks ${missing.join(", ")}: console/icons/take.ts makes it`);
const template = readFileSync(path.join(folder, "index.html"), "utf8");
await Promise.all(
  languages.map(async (language) => {
    const { builtFrom, font } = await buildIn(language);
    const { texts }: { readonly texts: Translated<typeof english> } = await import(`./texts/${language}/texts.ts`);
    // The entry itself is one import: the page names the file with the code.
    const [script, ...others] = builtFrom("app.tsx").imports;
    if (script === undefined || others.length > 0) throw new Error("the first page is not one file");
    const page = template
      .replace('lang="en"', `lang="${language}"`)
      .replace("<noscript>", `<noscript>${texts.needsJavaScript}`)
      .replace("app.css", builtFrom("styles.css").file)
      .replace("app.js", script)
      .replace("inter.woff2", font)
      .replace("data:,", iconAddress)
      .replace(
        "<svg></svg>",
        icons.replaceAll("\n", "").replace("<svg hidden>", `<svg hidden><defs>${markDrawing}</defs>`),
      );
    writeFileSync(path.join(outdir, language === languages[0] ? "index.html" : `index.${language}.html`), page);
  }),
);
// Whoever gives the files on gives their licences with them.
copyFileSync(path.join(folder, "icons/LICENSE"), path.join(outdir, "LICENSE-lucide.txt"));
copyFileSync(path.join(folder, "fonts/OFL.txt"), path.join(outdir, "LICENSE-inter.txt"));
