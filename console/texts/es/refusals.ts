/** Why requests in the activity were refused, by the code of the error: in Spanish those of `service.ts`. */
import { serviceTexts } from "./service.ts";

export const refusals: Readonly<Record<string, string>> = serviceTexts.problems;
