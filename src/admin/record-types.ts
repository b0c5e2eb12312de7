/**
 * Every type of record but orders, by name, in the order in which an export holds them: what others rely on comes first.
 */
import { readOnlyTypes } from "./read-only-records.ts";
import { type ReferenceType, referenceTypes } from "./records.ts";

export const recordTypes = {
  ...referenceTypes,
  ...readOnlyTypes,
} as const satisfies Readonly<Record<string, ReferenceType>>;
