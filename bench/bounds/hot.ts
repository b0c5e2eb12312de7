/**
 * The lower bounds of hot.ts: a bare program with node:http and node:sqlite that reads and writes the rows of one request and does nothing
 * else. Schema and statements are a copy (hot.json), taken on 2026-11-22 from what the service did then. So the bounds stay the same when
 * the service changes. `{po1}` in a parameter stands for an id.
 *
 * Started by hot.ts with `PORT` and `OPENPO_BOUND_DIR`.
 *
 * - `GET /order/N`, `GET /list`: the rows as JSON. The first adds an audit row, not synced.
 * - `POST /create/SHOP`: the rows of a create. With `group` all creates of a round of the event loop share a commit and a sync, else each
 *   has its own.
 * - `POST /receive/N`: the rows of a receive in three commits, the second to the sandbox's file. Commits of a round share a sync.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { serveAnswers } from "./answers.ts";

type Step = readonly [sql: string, params: readonly SQLInputValue[]];

interface Rows {
  readonly shop: readonly string[];
  readonly sandbox: readonly string[];
  readonly create: readonly Step[];
  readonly receive: readonly (readonly Step[])[];
  readonly get: readonly Step[];
  readonly audit: readonly Step[];
  readonly list: readonly Step[];
}

const rows: Rows = JSON.parse(readFileSync(join(import.meta.dirname, "hot.json"), "utf8"));
const directory = process.env["OPENPO_BOUND_DIR"] ?? "";
const ordersListed = 2_000;
const ordersReceived = 64;

/** Ids of one request by their placeholder. An id that is not given is a new one. */
type IdsOf = Map<string, string>;

let counted = 0;
const newId = (name: string): string => `${name.replace(/\d.*$/, "")}_${String((counted += 1)).padStart(26, "0")}`;

const filled = (value: SQLInputValue, ids: IdsOf): SQLInputValue =>
  typeof value !== "string" || !value.includes("{")
    ? value
    : value.replaceAll(/\{([a-z]+\d*x?)\}/g, (_whole, name: string) => {
        const id = ids.get(name) ?? newId(name);
        ids.set(name, id);
        return id;
      });

class File {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #waiting: (() => void)[] = [];
  #changes: (() => void)[] = [];

  constructor(name: string, schema: readonly string[]) {
    this.#database = new DatabaseSync(join(directory, `${name}.db`));
    this.#database.exec("pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = normal");
    for (const sql of schema) this.#database.exec(sql);
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  all([sql, params]: Step, ids: IdsOf): readonly unknown[] {
    return this.#prepared(sql).all(...params.map((value) => filled(value, ids)));
  }

  run(steps: readonly Step[], ids: IdsOf): void {
    for (const [sql, params] of steps) this.#prepared(sql).run(...params.map((value) => filled(value, ids)));
  }

  /** One transaction, synced before this returns. */
  commit(change: () => void, synced = true): void {
    this.#database.exec(`pragma synchronous = ${synced ? "full" : "normal"}`);
    this.#database.exec("begin immediate");
    change();
    this.#database.exec("commit");
  }

  /** The same, together with the other changes of this round of the event loop. */
  async commitInGroup(change: () => void): Promise<void> {
    return new Promise((resolve) => {
      if (this.#changes.length === 0) setImmediate(() => this.#commitGroup());
      this.#changes.push(change);
      this.#waiting.push(resolve);
    });
  }

  #commitGroup(): void {
    const changes = this.#changes.splice(0);
    const waiting = this.#waiting.splice(0);
    this.commit(() => {
      for (const change of changes) change();
    });
    for (const resolve of waiting) resolve();
  }
}

mkdirSync(directory, { recursive: true });
const shops = Array.from({ length: 65 }, (_, index) => new File(`shop-${index}`, rows.shop));
const sandbox = new File("sandbox", rows.sandbox);
const shopOf = (name: string | undefined): File => {
  const shop = shops[Number(name ?? 0)];
  if (shop === undefined) throw new Error(`no shop ${String(name)}`);
  return shop;
};

/** The ids of the orders that are read, listed and received. */
const orders: IdsOf[] = [];
shopOf("0").commit(() => {
  for (let index = 0; index < ordersListed; index += 1) {
    const ids: IdsOf = new Map();
    shopOf("0").run(rows.create, ids);
    orders.push(new Map([...ids].filter(([name]) => name.startsWith("po") || name === "key1")));
  }
});
const orderOf = (name: string | undefined): IdsOf => new Map(orders[Number(name ?? 0) % ordersReceived]);

/** A write answers the body that it stores. */
const bodyStored = rows.create.at(-1)?.[1][6] ?? null;

async function answer(method: string, [, what, name, how]: readonly string[]): Promise<string> {
  if (method === "GET" && what === "order") {
    const shop = shopOf("0");
    const ids = orderOf(name);
    const found = rows.get.map((step) => shop.all(step, ids));
    shop.commit(() => shop.run(rows.audit, ids), false);
    return JSON.stringify({ data: found });
  }
  if (method === "GET" && what === "list") {
    const shop = shopOf("0");
    const [count, page, headers] = rows.list;
    if (count === undefined || page === undefined || headers === undefined) throw new Error("no list");
    const listed = orders.slice(-50).map((ids) => ids.get("po1") ?? "");
    const byId: Step = [
      headers[0].replace(/in \([?, ]*\)/, `in (${listed.map(() => "?").join(", ")})`),
      ["bench", ...listed],
    ];
    return JSON.stringify({
      data: [shop.all(count, new Map()), shop.all(page, new Map()), shop.all(byId, new Map())],
    });
  }
  const ids: IdsOf = new Map([["number", newId("PO")]]);
  if (what === "create") {
    const shop = shopOf(name);
    const change = (): void => shop.run(rows.create, ids);
    if (how === "group") await shop.commitInGroup(change);
    else shop.commit(change);
  } else if (what === "receive") {
    const shop = shopOf("0");
    const of = orderOf(name);
    for (const [index, steps] of rows.receive.entries()) {
      const file = index === 1 ? sandbox : shop;
      await file.commitInGroup(() => file.run(steps, of));
    }
  }
  return JSON.stringify({ data: bodyStored });
}

serveAnswers(answer);
