/** Loaded before the program (`--import`): gives it the source of the planted faults (planted.ts) that `OPENPO_MUTANT` names. */
import { plantNamed } from "./plant.ts";
import { fewPages, mutants, mutantVariable } from "./planted.ts";

plantNamed(process.env[mutantVariable], [...mutants, fewPages]);
