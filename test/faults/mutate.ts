/**
 * Loaded before the program (`--import`) that is recorded: it moves a `-wal` file into its database file after few pages, so that a short recording
 * has many such moves, and has the fault that `OPENPO_MUTANT` names.
 */
import { mutants, mutantVariable } from "../simulator/mutants.ts";
import { plant } from "../support/plant.ts";

const mutant = process.env[mutantVariable];

plant([
  {
    name: "few-pages",
    file: "src/store/sqlite/file.ts",
    from: "const defaultWalPagesMax = 1_000;",
    to: "const defaultWalPagesMax = 60;",
  },
  ...mutants.filter(({ name }) => name === mutant),
]);
