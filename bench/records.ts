/**
 * A shop of 20,000 products, 2,000 suppliers and 40,000 prices: importing its records, the same again and each of them changed, with
 * what their histories take. Prints times.
 *
 * Environment: `OPENPO_BENCH_DIR` selects the disk, `OPENPO_DATABASE_URL` an empty PostgreSQL database instead of files (on-postgres.ts).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { askHere } from "../src/admin/ask.ts";
import { SecretBox } from "../src/base/secret-box.ts";
import { noDocuments } from "../src/documents/documents.ts";
import { readConfig } from "../src/service/config.ts";
import { openDataDirectory } from "../src/service/data-directory.ts";
import { openDatabase } from "../src/service/database.ts";
import { onlyGlobal } from "../src/webhooks/addresses.ts";

const [products, suppliers, locations] = [20_000, 2_000, 5];
const shopId = "large";

function* places(): Generator<object> {
  for (let nth = 0; nth < locations; nth += 1) yield { type: "location", locationId: `l${nth}`, name: `Place ${nth}` };
}

/** Records of each kind. Those of another price differ from each other. */
const kinds: Readonly<Record<string, (price: number) => Iterable<object>>> = {
  *"2,000 suppliers"(price) {
    for (let nth = 0; nth < suppliers; nth += 1)
      yield {
        type: "supplier",
        supplierId: `s${nth}`,
        name: `Supplier ${nth}`,
        email: `orders@s${nth}.example`,
        currencyCode: "EUR",
        leadTimeDays: 7 + (nth % 20),
        note: `Prices of ${price}.`,
      };
  },
  *"20,000 variants"(price) {
    for (let nth = 0; nth < products; nth += 1)
      yield {
        type: "variant",
        variantId: `v${nth}`,
        productId: `p${nth}`,
        productName: `Product ${(nth * 7_919) % 20_011}`,
        sku: `S-${nth}`,
        price: 10 + price,
      };
  },
  *"40,000 prices"(price) {
    for (let nth = 0; nth < products; nth += 1)
      for (const offer of [0, 1])
        yield {
          type: "supplierVariant",
          supplierId: `s${(nth + offer * 7) % suppliers}`,
          variantId: `v${nth}`,
          unitCost: 4 + price + offer,
          supplierSku: `A-${nth}`,
          packSize: 6,
        };
  },
  *"20,000 levels"(price) {
    for (let nth = 0; nth < products; nth += 1)
      yield {
        type: "inventoryLevel",
        variantId: `v${nth}`,
        locationId: `l${nth % locations}`,
        onHand: price + (nth % 40),
      };
  },
};

async function* lines(records: Iterable<object>): AsyncGenerator<Uint8Array> {
  let text = "";
  for (const record of records) {
    text += `${JSON.stringify(record)}\n`;
    if (text.length < 65_536) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(text);
}

const directory = mkdtempSync(path.join(process.env["OPENPO_BENCH_DIR"] ?? tmpdir(), "openpo-records-"));
const silent = { info: () => {}, warn: () => {}, error: console.error };
const config = readConfig({ ...process.env, OPENPO_DATA_DIR: directory });
const store =
  config.database === null ? await openDataDirectory(directory, silent) : await openDatabase(config.database, silent);
const ask = askHere(
  store.adminContext({
    wakeOutbox: () => {},
    webhooks: { policy: onlyGlobal, secrets: new SecretBox(null), changed: () => {} },
    documents: noDocuments,
    mailIsOn: false,
    publicUrl: null,
  }),
);

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const [from, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `${name}: ${Math.round(performance.now() - from)} ms, ${Math.round((user + system) / 1_000)} ms of the processor`,
  );
}

try {
  await ask("shop_put", { shopId, name: shopId, currencyCode: "EUR", storefront: { kind: "none" } });
  const bring = (name: string, records: Iterable<object>): Promise<void> =>
    timed(name, () => ask("shop_import", { shopId }, lines(records)));
  await bring("places", places());
  for (const [what, records] of Object.entries(kinds)) {
    await bring(`${what}, new`, records(1));
    await bring(`${what}, the same again`, records(1));
    await bring(`${what}, each changed`, records(2));
  }
  await store.completeFirstStart();
} finally {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
}
