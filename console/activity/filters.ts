/** Filters of the activity. The page's query holds them, so that an address is a view. */
import type { Input, Output } from "../../client/index.ts";
import { deedOf } from "../parts/service-says.tsx";
import { beginOf, pageLanguage, todayIn } from "../data/format.ts";
import { dayOf } from "../orders/filters.ts";
import { dayAfter } from "../orders/lateness.ts";
import { hrefOf, place, withParameter, withQuery } from "../router.ts";
import { refusals } from "../texts/en/refusals.ts";
import { texts } from "../texts/en/texts.ts";

export type Request = Output<"audit_log_list">["auditLog"][number];

export const surfaces = ["keys", "mcp", "rest", "console", "all"] as const;
export const outcomes = ["all", "done", "refused", "failed"] as const;
export const actors = ["all", "agent", "api-key", "user", "supplier", "system"] as const;

type Outcome = Exclude<(typeof outcomes)[number], "all"> | "asked";

/** Returns the value that the query chooses; the first of `values` when it names none of them. */
export const chosen = <Value extends string>(name: string, values: readonly [Value, ...(readonly Value[])]): Value =>
  values.find((value) => value === place.value.query.get(name)) ?? values[0];

/** A parameter of the query; undefined when it is empty. */
export const parameter = (name: string): string | undefined => place.value.query.get(name) || undefined;

/** The address with this parameter changed; an empty value leaves it out. */
export const addressWith = (name: string, value: string): string =>
  withQuery(hrefOf("activity"), withParameter(place.value.query, name, value));

/**
 * The day of a filter, in the reader's time zone. In an address it may be so many days before today, so that a link
 * stays true tomorrow.
 */
export function dayIn(name: "from" | "to"): string | undefined {
  const day = dayOf(parameter(name), todayIn()) ?? "";
  return Number.isNaN(Date.parse(day)) ? undefined : day;
}

/** The time between the days of the filters, both of them within it. */
export function timeIn(): Pick<Input<"change_list">, "from" | "to"> {
  const [from, to] = [dayIn("from"), dayIn("to")];
  return {
    ...(from === undefined ? {} : { from: beginOf(from) }),
    ...(to === undefined ? {} : { to: beginOf(dayAfter(to, 1)) }),
  };
}

/** Its 202 says that the pull has begun. Every other 202 says that a person decides. */
const pullOperation = "storefront_pull";

/** Returns the outcome of a request; `asked`: a person decides on it. */
export function outcomeOf(request: Request): Outcome {
  const { status } = request;
  if (status === 202 && operationOf(request) !== pullOperation) return "asked";
  if (status < 400) return "done";
  return status < 500 ? "refused" : "failed";
}

/** `mcp` of the tag `mcp:purchase_order_receive`. */
export const surfaceOf = ({ tag }: Request): string => tag.slice(0, tag.indexOf(":"));

/** An operation in a person's words; one without words of its own by its name. */
export function operationName(operation: string): string {
  const name = operation.replaceAll("_", " ");
  return deedOf(operation) ?? name.charAt(0).toUpperCase() + name.slice(1);
}

/** Operations that have words, by these, and this one. */
export const operationsWith = (operation: string | undefined): readonly string[] =>
  [...new Set([...Object.keys(texts.activity.deeds), ...(operation === undefined ? [] : [operation])])].sort(
    (one, other) => operationName(one).localeCompare(operationName(other), pageLanguage),
  );

/** Why a request was refused, in a person's words. */
export const refusalName = (errorCode: string): string => refusals[errorCode] ?? errorCode;

/** The operation of a tag. */
export const operationOf = ({ tag }: Request): string => tag.slice(tag.indexOf(":") + 1);

/**
 * Returns the surface for a question to the service. Requests of keys are those to the API and of agents; a key makes
 * no others.
 */
export function surfaceNamed(
  surface: (typeof surfaces)[number],
  keyId: string | undefined,
): Input<"audit_log_list">["surface"] {
  if (surface === "all") return undefined;
  if (surface !== "keys") return [surface];
  return keyId === undefined ? ["rest", "mcp"] : undefined;
}
