/** What `npm pack` puts into the two packages: every link of their documents leads to a file that is in the package too. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

const root = path.join(import.meta.dirname, "../..");

/** The files of a package, without building it. What a build makes is not linked to. */
function filesOf(folder: string): readonly string[] {
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts", `./${folder}`], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }]: [{ files: readonly { readonly path: string }[] }] = JSON.parse(packed);
  return files.map((file) => file.path);
}

/** The links of a document that lead to no file of the package. Code blocks have none. */
function brokenLinks(files: readonly string[], document: string, text: string): readonly string[] {
  return [...text.replaceAll(/```[\s\S]*?```/g, "").matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    const [target = ""] = link.split("#");
    if (target === "" || /^https?:/.test(target)) return [];
    const place = path.posix.join(path.posix.dirname(document), target);
    return files.some((file) => file === place || file.startsWith(`${place}/`)) ? [] : [`${document}: ${link}`];
  });
}

for (const [folder, least] of [
  ["", 20],
  ["client", 0],
] as const)
  test(`every link in the documents of the package ${folder === "" ? "openpo" : "openpo-client"} works there`, () => {
    const files = filesOf(folder);
    const documents = files.filter((file) => file.endsWith(".md"));
    const texts = documents.map((file) => [file, readFileSync(path.join(root, folder, file), "utf8")] as const);
    assert.ok(documents.includes("README.md"));
    assert.ok(texts.reduce((count, [, text]) => count + (text.match(/\]\((?!http)/g) ?? []).length, 0) >= least);
    assert.deepEqual(
      texts.flatMap(([file, text]) => brokenLinks(files, file, text)),
      [],
      "add the file to `files` in package.json, or write the link out",
    );
  });

test("a link to a file that is not packed is found", () => {
  const files = ["README.md", "docs/a.md", "deploy/x.conf"];
  assert.deepEqual(
    brokenLinks(files, "README.md", "[a](docs/a.md#part) [d](deploy) [w](https://example.com) [s](#here)"),
    [],
  );
  assert.deepEqual(brokenLinks(files, "docs/a.md", "[up](../README.md) [no](../src/main.ts)"), [
    "docs/a.md: ../src/main.ts",
  ]);
});
