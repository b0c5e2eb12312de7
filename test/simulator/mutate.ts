/** Loaded before the program (`--import`): gives it the source of a mutant (mutants.ts) that `OPENPO_MUTANT` names. */
import { plantNamed } from "../support/plant.ts";
import { mutantVariable, mutants } from "./mutants.ts";

plantNamed(process.env[mutantVariable], mutants);
