/**
 * Makes a test that asserts nothing fail, and a file that does not end. `test/run.ts` loads this before each test file.
 *
 * Every use of `assert` counts, also by a helper or inside a property. Tests that run at the same time count for each other.
 */
import assert from "node:assert/strict";
import { after, afterEach, beforeEach, type SuiteContext, type TestContext } from "node:test";

let assertions = 0;
for (const [name, value] of Object.entries(assert))
  // A getter, not a wrapper: the message of a failed assertion shows the line of its caller. Classes are no assertions.
  if (typeof value === "function" && /^[a-z]/.test(name))
    Object.defineProperty(assert, name, {
      get() {
        assertions += 1;
        return value;
      },
    });

const before = new Map<string, number>();
beforeEach((context) => void before.set(context.name, assertions));
afterEach((context: TestContext | SuiteContext) => {
  if (assertions === before.get(context.name)) throw new Error("The test asserts nothing.");
});

/** How long a file may take to end after its last test. Its time limit holds for tests alone: what one leaves open would hold up the whole run. */
const endMsMax = 120_000;

after(() => {
  setTimeout(() => {
    process.stderr.write(
      `The file's process goes on after its tests: ${process.getActiveResourcesInfo().join(", ")}\n`,
    );
    process.exit(1);
  }, endMsMax).unref();
});
