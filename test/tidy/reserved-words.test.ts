/**
 * Reserved words (docs/glossary.md): each has one meaning, so a declaration that has it in its name stands in the rooms of that meaning.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

/** Where declarations may have the word, and those elsewhere that are left: the list may only get shorter. */
interface Reserved {
  readonly rooms: RegExp;
  /** Names in which it is a verb, or has a word before it that makes it another one. */
  readonly except?: RegExp;
  readonly left: readonly string[];
}

const reserved: Readonly<Record<string, Reserved>> = {
  block: { rooms: /^src\/shop\/(?:order-list|forecast)\//, left: [] },
  cache: { rooms: /^src\/store\//, left: [] },
  change: {
    rooms:
      /^(?:console\/(?:activity|order|receive)|src\/(?:core\/(?:events|goods|order|stock|storefront)|shop|store|storefront|operations|requests\/write|demo\/purchase-orders))\//,
    except: /^change[A-Z]|^mayChange$/,
    left: ["src/admin/catalogue/look-ups.ts listChanges"],
  },
  claim: {
    rooms: /^src\/(?:jobs|shop\/(?:events|order|storefront|supplier)|store|operations\/purchase-orders\/goods)\//,
    left: [
      "src/exchange/import-run.ts importClaims",
      "src/requests/idempotency.ts claimAndRead",
      "src/service/open-store.ts longClaims",
    ],
  },
  effect: {
    rooms: /^src\/(?:core\/(?:goods|order)|shop\/(?:order|storefront)|jobs)\//,
    // The answer's member `sideEffects`.
    except: /sideEffect/i,
    left: [],
  },
  job: { rooms: /^src\/jobs\//, left: [] },
  lease: {
    rooms: /^src\/(?:exchange|jobs|shop\/storefront|store\/postgres|operations\/purchase-orders\/goods)\//,
    left: [],
  },
  lock: {
    rooms: /^src\/(?:store\/(?:sqlite|postgres)|storefront\/medusa|shop\/storefront)\/|^src\/service\/data-directory/,
    left: [],
  },
  memory: { rooms: /^src\/service\//, left: ["src/store/sqlite/file.ts noSharedMemoryCodes"] },
  page: {
    rooms:
      /^(?:console\/(?:data|operator|orders|reorder)|src\/(?:admin|cli\/shops|exchange|operations|shop|storefront|suppliers))\//,
    // A web page, or one of paper, has its own name before the word.
    except: /[a-z]Page/,
    left: [],
  },
  part: {
    rooms: /^src\/(?:shop\/(?:stock|forecast)|exchange\/records|operations)\//,
    left: [
      "console/data/format.ts parts",
      "src/admin/operation.ts SnapshotPart",
      "src/admin/operation.ts snapshotParts",
      "src/cli/copies/backup.ts copyPart",
      "src/cli/copies/followed-backup.ts parts",
      "src/core/forecast/demand.ts levelParts",
      "src/core/forecast/demand.ts partsOf",
      "src/core/forecast/demand.ts slowParts",
      "src/mcp/schemas.ts partName",
      "src/mcp/schemas.ts partShown",
      "src/storefront/shopify/bulk.ts isPart",
    ],
  },
  row: {
    rooms:
      /^(?:console|src\/(?:admin|cli\/copies|core\/(?:forecast|order|storefront)|documents|exchange|operations|requests|shop|store|storefront|suppliers))\//,
    left: [
      "src/jobs/outbox/steps/costs.ts ReadRow",
      "src/jobs/outbox/steps/costs.ts readRow",
      "src/service/open-store.ts dueRows",
    ],
  },
  run: {
    rooms: /^src\/(?:jobs\/outbox|shop\/storefront|store|exchange|cli)\//,
    except: /^run(?:[A-Z]|$)|dryRun/i,
    left: [],
  },
  turn: { rooms: /^src\/(?:store|storefront\/sandbox)\//, left: [] },
  window: { rooms: /^src\/(?:core\/supplier|http\/node)\//, left: [] },
};

const wordsOf = (name: string): readonly string[] =>
  name.split(/(?=[A-Z])|_/).map((word) => word.toLowerCase().replace(/s$/, ""));

/** The declarations of a source outside functions that have this word in their name. */
const declarationsWith = (word: string, source: string): readonly string[] =>
  [...source.matchAll(/^(?:export )?(?:async )?(?:const|let|function\*?|interface|type|class) (\w+)/gm)]
    .map(([, name = ""]) => name)
    .filter((name) => wordsOf(name).includes(word));

test("a declaration with a reserved word stands in the rooms of the word's meaning", () => {
  const sources = globSync(["src/**/*.ts", "console/**/*.{ts,tsx}"])
    .filter((file) => !file.endsWith(".d.ts") && file !== "src/main.ts")
    .map((file) => ({ file, source: readFileSync(file, "utf8") }));
  for (const [word, { rooms, left, except }] of Object.entries(reserved)) {
    const elsewhere = sources
      .filter(({ file }) => !rooms.test(file))
      .flatMap(({ file, source }) => declarationsWith(word, source).map((name) => ({ file, name })))
      .filter(({ name }) => except?.test(name) !== true)
      .map(({ file, name }) => `${file} ${name}`);
    assert.deepEqual(elsewhere.toSorted(), [...left].toSorted(), `"${word}" has another meaning: see docs/glossary.md`);
  }
});

test("every reserved word with rooms has its meaning in the glossary", () => {
  const [, section = ""] = readFileSync("docs/glossary.md", "utf8").split("## Reserved words");
  for (const word of Object.keys(reserved)) assert.ok(section.includes(`\n| ${word} | `), word);
});

test("every word of the glossary's table has rooms, but for decisions, which are everywhere", () => {
  const [, section = ""] = readFileSync("docs/glossary.md", "utf8").split("## Reserved words");
  const words = [...section.matchAll(/^\| ([a-z]+) \|/gm)].map(([, word = ""]) => word);
  assert.deepEqual(
    words.filter((word) => !(word in reserved)),
    ["decision"],
  );
});

test("a reserved word within a name is seen", () => {
  const source = "export const turnOf = 1;\nexport interface JoinedTurns {}\nconst returned = 1;\n  const turn = 1;\n";
  assert.deepEqual(declarationsWith("turn", source), ["turnOf", "JoinedTurns"]);
});
