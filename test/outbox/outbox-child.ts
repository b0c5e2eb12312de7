/**
 * The process that kills.crash.test.ts starts. It resumes the pending effects in a directory, receives goods if asked, and kills itself (-9) at
 * a given step. A step is the moment before or after each write and each storefront call of the outbox.
 *
 * Arguments: directory, step at which to die (0: never), `receive` or `resume`.
 */
import type { Engine } from "../../src/store/store.ts";
import { StorefrontError, type Storefront } from "../../src/storefront/storefront.ts";
import { delegated } from "../../src/store/delegated.ts";
import { quantity } from "../support/goods.ts";
import { openWorld, shopId } from "../support/peers/storefront.ts";

const [directory = "", dieAt = "0", what] = process.argv.slice(2);
let steps = 0;

function step(): void {
  steps += 1;
  if (steps === Number(dieAt)) process.kill(process.pid, "SIGKILL");
}

async function between<T>(work: () => Promise<T>): Promise<T> {
  step();
  try {
    return await work();
  } finally {
    step();
  }
}

const engineOf = (engine: Engine): Engine => ({
  ...delegated(engine),
  write: (shop, work, options) => between(() => engine.write(shop, work, options)),
});

const storefrontOf = (storefront: Storefront): Storefront => ({
  ...storefront,
  changeOnHand: (changes, context) => between(() => storefront.changeOnHand(changes, context)),
  setIncoming: (levels, context) => between(() => storefront.setIncoming(levels, context)),
});

const world = await openWorld(directory, { engineOf, between: storefrontOf });
if (what === "receive") {
  const effects = await world.receive("po_1", { l1: quantity(4), l2: quantity(2.5) });
  process.stdout.write("received\n");
  await world.outbox.settle(shopId, effects, 1_000);
} else await world.outbox.start();
await world.quiet();
await world.close();
process.stdout.write(`done after ${steps} steps\n`);
if (world.complaints.length > 0) throw new StorefrontError("error", world.complaints.join("; "), { landed: "no" });
