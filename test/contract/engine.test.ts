import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteEngine } from "../../src/shop/sqlite.ts";
import { systemClock } from "../../src/shop/system.ts";
import { engineSuite } from "./engine-suite.ts";

engineSuite("sqlite", async () => {
  const directory = await mkdtemp(join(tmpdir(), "openpo-engine-"));
  return {
    open: (options = {}) =>
      openSqliteEngine({
        directory: join(directory, "shops"),
        schemaDirectory: "src/shop/schema",
        shopsOpenMax: 4,
        clock: systemClock,
        ...options,
      }),
    dispose: () => rm(directory, { recursive: true }),
  };
});
