/**
 * Counts the statements and round trips to PostgreSQL of one call of every operation; writes have an Idempotency-Key. Separate columns
 * count the request itself, the calls of the built-in storefront (a real one gets them over its API), and the follow-on work that the
 * answer waits for. test/support/postgres/flights.ts says how, and test/store/postgres/flights.slow.test.ts holds the budgets.
 *
 * Environment: `OPENPO_BENCH_FLIGHTS=purchase_order_receive` prints the content of each round trip of that operation instead.
 */
import { restOperations } from "../src/operations/registry.ts";
import { type Cost, type Costs, openCountedNode, payers } from "../test/support/postgres/flights.ts";
import { freshDatabase, startPostgres } from "../test/support/postgres/postgres.ts";
import { report } from "./report.ts";

const flightsOf = process.env["OPENPO_BENCH_FLIGHTS"] ?? null;

await using server = await startPostgres();
const { url } = await freshDatabase({ empty: true, server: server.url });
await using node = await openCountedNode(url);

const columns = ({ statements, roundTrips }: Cost): string =>
  statements === 0 ? "".padStart(14) : `${statements.toString().padStart(6)} in ${roundTrips.toString().padStart(3)} `;

function print(name: string, costs: Costs): void {
  console.log(`${name.padEnd(44)}${payers.map((payer) => columns(costs[payer])).join("  ")}`);
}

/** Reports the operations that the table has. */
function tell(name: string, costs: Costs): void {
  const all = payers.reduce((sum, payer) => sum + costs[payer].roundTrips, 0);
  const row = (called: string, value: number): void =>
    report({ name: `PostgreSQL: round trips of a ${called}`, value, figure: String(value) });
  if (name === "purchase_order_get") row("read", all);
  if (name === "purchase_order_create") row("keyed create", all);
  if (name !== "purchase_order_receive") return;
  row("receive, with its push", all);
  row("receive, request alone", costs.request.roundTrips);
}

console.log(`PostgreSQL ${server.version}; statements in round trips`);
console.log(`${"".padEnd(44)}${["request", "storefront", "follow-on"].map((name) => name.padStart(13)).join("   ")}`);
for (const operation of restOperations.filter(({ name }) => flightsOf === null || name === flightsOf)) {
  const { method } = operation.route;
  // The second call is counted: the first one prepares statements and runs the shop's sweeps.
  await node.ask(method, ...(await node.prepare(operation)));
  const costs = await node.costOf(method, await node.prepare(operation));
  print(operation.name, costs);
  tell(operation.name, costs);
  if (flightsOf !== null)
    for (const [index, flight] of node.flights.entries()) console.log(`  ${index + 1}\n${flight}`);
}
if (flightsOf === null)
  for (const lines of [1, 50, 500])
    print(`receive on ${lines} of ${lines} lines`, await node.costOf("POST", await node.receipt(lines)));
