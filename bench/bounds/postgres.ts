/**
 * The lower bound of postgres.ts: a bare program with node:http and pg that reads and writes the rows of one request and does nothing else. Schema
 * and statements are those of hot.json, with PostgreSQL's types. Everything of a request is sent together, in one transaction: one round trip.
 *
 * Started with `PORT` and `OPENPO_BOUND_URL`. `GET /order/N` reads an order and adds an audit row, `POST /create/0` writes the rows of a
 * create; with `group` those that wait share a transaction, else each has its own.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { serveAnswers } from "./answers.ts";

type Value = string | number | null;
type Step = readonly [sql: string, params: readonly Value[]];

interface Rows {
  readonly shop: readonly string[];
  readonly create: readonly Step[];
  readonly get: readonly Step[];
  readonly audit: readonly Step[];
}

const rows: Rows = JSON.parse(readFileSync(join(import.meta.dirname, "hot.json"), "utf8"));
const ordersRead = 64;
/** As many connections as the service has by default. */
const connectionCount = 10;

const typesOfPostgres = (sql: string): string =>
  sql
    .replace(/\) strict$/i, ")")
    .replaceAll(/ integer\b/g, " bigint")
    .replaceAll(/ real\b/g, " double precision");

/** Names of prepared statements. */
const names = new Map<string, string>();

function nameOf(sql: string): string {
  const name = names.get(sql) ?? `s${names.size}`;
  names.set(sql, name);
  return name;
}

const numbered = (sql: string): string => {
  let number = 0;
  return sql.replaceAll("?", () => `$${(number += 1)}`);
};

/** Ids of one request by their placeholder. An id that is not given is a new one. */
type IdsOf = Map<string, string>;

let counted = 0;
const newId = (name: string): string => `${name.replace(/\d.*$/, "")}_${String((counted += 1)).padStart(26, "0")}`;

const filled = (value: Value, ids: IdsOf): Value =>
  typeof value !== "string" || !value.includes("{")
    ? value
    : value.replaceAll(/\{([a-z]+\d*x?)\}/g, (_whole, name: string) => {
        const id = ids.get(name) ?? newId(name);
        ids.set(name, id);
        return id;
      });

const clients = Array.from(
  { length: connectionCount },
  () => new Client({ connectionString: process.env["OPENPO_BOUND_URL"], pipeline: true }),
);
await Promise.all(clients.map((client) => client.connect()));
const [first] = clients;
if (first === undefined) throw new Error("no connection");
for (const sql of rows.shop) await first.query(typesOfPostgres(sql));

let turns = 0;

type Part = readonly [steps: readonly Step[], ids: IdsOf];

/** One transaction, sent in one piece. */
async function transaction(parts: readonly Part[]): Promise<readonly unknown[]> {
  const client = clients[(turns += 1) % clients.length];
  if (client === undefined) throw new Error("no connection");
  const sent = [
    client.query("begin"),
    ...parts.flatMap(([steps, ids]) =>
      steps.map(([sql, params]) =>
        client.query({ name: nameOf(sql), text: numbered(sql), values: params.map((value) => filled(value, ids)) }),
      ),
    ),
    client.query("commit"),
  ];
  const answers = await Promise.all(sent);
  return answers.map((answer): unknown => answer.rows);
}

const newOrder = (): Part => [rows.create, new Map([["number", newId("PO")]])];

let group: { readonly parts: Part[]; readonly written: Promise<unknown> } | null = null;
let lastGroup: Promise<unknown> = Promise.resolve();

/** All creates that come while a group is written are the next group. */
function createInGroup(): Promise<unknown> {
  if (group === null) {
    const parts: Part[] = [];
    const written = lastGroup.then(() => {
      group = null;
      return transaction(parts);
    });
    lastGroup = written;
    group = { parts, written };
  }
  group.parts.push(newOrder());
  return group.written;
}

const orders: IdsOf[] = [];
for (let index = 0; index < ordersRead; index += 1) {
  const [steps, ids] = newOrder();
  await transaction([[steps, ids]]);
  orders.push(new Map([...ids].filter(([name]) => name.startsWith("po") || name === "key1")));
}

/** A write answers the body that it stores. */
const bodyStored = rows.create.at(-1)?.[1][6] ?? null;

async function answer(method: string, [, what, name, how]: readonly string[]): Promise<string> {
  if (method === "GET" && what === "order") {
    const ids: IdsOf = new Map(orders[Number(name) % ordersRead]);
    return JSON.stringify({ data: await transaction([[[...rows.get, ...rows.audit], ids]]) });
  }
  if (what === "create") await (how === "group" ? createInGroup() : transaction([newOrder()]));
  return JSON.stringify({ data: bodyStored });
}

serveAnswers(answer);
