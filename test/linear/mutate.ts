/** Loaded before the program (`--import`): gives it the source of a mutant (mutants.ts) that `OPENPO_MUTANT` names. */
import { mutantVariable } from "../simulator/mutants.ts";
import { plantNamed } from "../support/plant.ts";
import { linearMutants } from "./mutants.ts";

plantNamed(process.env[mutantVariable], linearMutants);
