/**
 * Commands on what a shop keeps: suppliers with their price lists, variants with their stock, locations (C82 to C86).
 * Each asks an operation of the admin registry; a field of a record is given by its name.
 */
import { memberOf, type JsonObject } from "../../base/json.ts";
import type { Option } from "../arguments.ts";
import { asking, membersIn, listOptions, type RunnableCommand, wholeNumber } from "../command.ts";
import { type Columns, listShown, shown, table } from "../output.ts";

const setOption = {
  set: {
    value: "FIELD=VALUE",
    help: "a field by its name in openpo export; the value is JSON or plain text, null clears; may be repeated",
    repeats: true,
  },
} as const satisfies Record<string, Option>;

/** The fields of a record, one a line. */
const fieldsShown = (record: unknown): string =>
  typeof record === "object" && record !== null ? table(["FIELD", "VALUE"], Object.entries(record)) : shown(record);

/** `supplierId` as `SUPPLIER_ID`. */
const parameterOf = (member: string): string => member.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** A command on records: the operation that it asks, and what it says. */
interface Described {
  readonly name: string;
  readonly operation: string;
  readonly summary: string;
  /** Members of the input that are arguments. */
  readonly named?: readonly string[];
  readonly options?: Record<string, Option>;
  readonly told: (data: unknown, input: JsonObject) => string;
}

/** Options that an input has under the same name; the others are numbers and fields. */
const textOptions = ["search", "cursor", "reason"] as const;

function recordCommand({ name, named = [], options = {}, ...described }: Described): RunnableCommand {
  return asking({
    ...described,
    name,
    parameters: named.map(parameterOf),
    options,
    input: (args) => ({
      ...("set" in options ? membersIn(args, "set", { name }) : {}),
      ...Object.fromEntries(textOptions.flatMap((each) => (each in options ? [[each, args.text(each)]] : []))),
      ...("limit" in options ? { limit: wholeNumber(args, "limit", { name }) } : {}),
      ...Object.fromEntries(named.map((member, index) => [member, argumentOf(member, args.parameter(index))])),
    }),
  });
}

/** A quantity is a number; what is no number is for the operation to refuse. */
const argumentOf = (member: string, text: string): string | number =>
  member === "onHand" && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;

const historyColumns = {
  AT: "occurredAt",
  ACTION: "action",
  BY: "by",
  OPERATION: "operation",
  VARIANT: "variantId",
  LOCATION: "locationId",
  CHANGES: "changed",
};

/** An entry of a history as a row. */
function historyShown(data: unknown): string {
  const history = memberOf(data, "history");
  const rows = (Array.isArray(history) ? history : []).map((entry: unknown) => {
    const changes = memberOf(entry, "changes");
    const changed = (Array.isArray(changes) ? changes : []).map((change: unknown) =>
      ["field", "before", "after"].map((member) => shown(memberOf(change, member))),
    );
    return {
      ...(typeof entry === "object" ? entry : {}),
      by: memberOf(memberOf(entry, "actor"), "name"),
      changed: changed.map(([field, before, after]) => `${field}: ${before} → ${after}`).join("; "),
    };
  });
  return listShown("history", historyColumns)({ history: rows, cursor: memberOf(data, "cursor") });
}

/** A kind of records. */
interface Kind {
  readonly noun: "supplier" | "variant" | "location";
  readonly list: { readonly operation: string; readonly columns: Columns };
  /** Fields that archive a record. */
  readonly archived: JsonObject;
}

const kinds: readonly Kind[] = [
  {
    noun: "supplier",
    list: {
      operation: "supplier_list",
      columns: { SUPPLIER: "supplierId", NAME: "name", EMAIL: "email", CURRENCY: "currencyCode", STATUS: "status" },
    },
    archived: { status: "archived" },
  },
  {
    noun: "variant",
    list: {
      operation: "variant_search",
      columns: { VARIANT: "variantId", PRODUCT: "productName", NAME: "variantName", SKU: "sku", STATUS: "status" },
    },
    archived: { isArchived: true },
  },
  {
    noun: "location",
    list: { operation: "location_list", columns: { LOCATION: "locationId", NAME: "name", STATUS: "status" } },
    archived: { status: "archived" },
  },
];

function commandsOf({ noun, list, archived }: Kind): readonly RunnableCommand[] {
  const id = `${noun}Id`;
  const recordOf = (data: unknown): unknown => memberOf(data, noun);
  const named = [id];
  const changed = (what: string) => (data: unknown) => `The ${noun} ${shown(memberOf(recordOf(data), id))} ${what}.`;
  const archiving = asking({
    name: `${noun} archive`,
    parameters: [parameterOf(id)],
    summary: `archive a ${noun}: orders that name it keep it`,
    operation: `${noun}_update`,
    input: (args) => ({ [id]: args.parameter(0), ...archived }),
    told: changed("is archived"),
  });
  return [
    recordCommand({
      name: `${noun} list`,
      operation: list.operation,
      summary: `list the ${noun}s of a shop`,
      options: { search: { value: "TEXT", help: "only those that it finds" }, ...listOptions },
      told: listShown(`${noun}s`, list.columns),
    }),
    recordCommand({
      name: `${noun} show`,
      operation: `${noun}_get`,
      summary: `show a ${noun}`,
      named,
      told: (data) => fieldsShown(recordOf(data)),
    }),
    recordCommand({
      name: `${noun} create`,
      operation: `${noun}_create`,
      summary: `add a ${noun}`,
      options: setOption,
      told: changed("is added"),
    }),
    recordCommand({
      name: `${noun} edit`,
      operation: `${noun}_update`,
      summary: `change a ${noun}; other fields stay`,
      named,
      options: setOption,
      told: changed("is changed"),
    }),
    archiving,
    recordCommand({
      name: `${noun} delete`,
      operation: `${noun}_delete`,
      summary: `delete a ${noun} that nothing uses`,
      named,
      told: (data) => `The ${noun} ${shown(memberOf(data, id))} is deleted.`,
    }),
    asking({
      name: `${noun} history`,
      parameters: [parameterOf(id)],
      summary: `list who changed a ${noun}, and what`,
      options: listOptions,
      operation: "record_history_list",
      input: (args) => ({
        kind: noun,
        id: args.parameter(0),
        limit: wholeNumber(args, "limit", { name: `${noun} history` }),
        cursor: args.text("cursor"),
      }),
      told: historyShown,
    }),
  ];
}

const entry = ["supplierId", "variantId"];

const ofEntry = ({ supplierId, variantId }: JsonObject): string => `${shown(variantId)} of ${shown(supplierId)}`;

const further: readonly RunnableCommand[] = [
  recordCommand({
    name: "supplier merge",
    operation: "supplier_merge",
    summary: "move a supplier's orders, prices and credits to another supplier, and end it",
    named: ["supplierId", "into"],
    told: (data, { supplierId, into }) =>
      `${shown(supplierId)} is merged into ${shown(into)}: ${shown(memberOf(memberOf(data, "moved"), "orders"))} orders.`,
  }),
  recordCommand({
    name: "supplier prices",
    operation: "supplier_variant_list",
    summary: "list the price list of a supplier",
    named: ["supplierId"],
    options: listOptions,
    told: listShown("supplierVariants", {
      VARIANT: "variantId",
      PRODUCT: "productName",
      SKU: "sku",
      COST: "unitCost",
      CURRENCY: "unitCostCurrencyCode",
      MOQ: "moq",
      PACK: "packSize",
      DAYS: "leadTimeDays",
    }),
  }),
  recordCommand({
    name: "supplier price",
    operation: "supplier_variant_put",
    summary: "set a supplier's terms for a variant; fields that are left out are empty",
    named: entry,
    options: setOption,
    told: (_data, input) => `The price of ${ofEntry(input)} is set.`,
  }),
  recordCommand({
    name: "supplier unlist",
    operation: "supplier_variant_delete",
    summary: "remove a variant from a supplier's price list",
    named: entry,
    told: (_data, input) => `The price of ${ofEntry(input)} is removed.`,
  }),
  recordCommand({
    name: "variant stock",
    operation: "variant_level_put",
    summary: "set what is on hand, in a shop that keeps its stock itself",
    named: ["variantId", "locationId", "onHand"],
    options: { reason: { value: "TEXT", help: "why; the variant's history shows it" } },
    told: (data) => {
      const recovery = memberOf(data, "recovery");
      const onHand = `On hand now: ${shown(memberOf(memberOf(data, "level"), "onHand"))}.`;
      return typeof recovery === "string" ? `${onHand} ${recovery}` : onHand;
    },
  }),
];

/** Commands on records, those of one kind together. */
export const recordCommands: readonly RunnableCommand[] = kinds.flatMap((kind) => [
  ...commandsOf(kind),
  ...further.filter(({ name }) => name.startsWith(`${kind.noun} `)),
]);
