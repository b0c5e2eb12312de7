/** A refusal as the message of what a person has done. */
import type { Problem } from "../../data/client.ts";
import { sentence } from "../../data/format.ts";
import { senseOf } from "../problem.tsx";
import type { Told } from "./told.ts";

/** Says first what did not work, then why. */
export function failed(what: string, problem: Problem): Told {
  const sense = senseOf(problem);
  const says = [sentence(problem.message), problem.action].filter((part) => part !== null).join(" ");
  return { text: `${what} ${sense ?? says}`, state: "failed", ...(sense === undefined ? {} : { says }) };
}
