/** Texts of a supplier's link and of what suppliers have answered, which load with the order. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "line", "lines");

export const supplierTexts = isolating({
  title: "The supplier's answer",
  waiting: "Suppliers have answered",
  more: (count: number) => `and ${number(count)} more`,
  answered: (name: string, at: string) => `${name} answered on ${at}`,
  somebody: "The supplier",
  waits: "Nothing has changed yet. Accept what fits; the rest stays as it is.",
  overtaken:
    "The order has changed since. Lines that it has overtaken cannot be accepted; ask the supplier to answer again.",
  columns: { order: "Order says" },
  accept: "Accept all",
  acceptSome: (count: number) => `Accept ${lines(count)}`,
  reject: "Reject",
  rejectTitle: "Reject this answer?",
  rejectText: "The order stays as it is. The supplier can answer again by the same link.",
  choose: (name: string) => `Accept ${name}`,
  quantity: (value: string) => `${value} confirmed`,
  unconfirmed: (value: string) => `${value} ordered, not confirmed`,
  expected: (date: string) => `expected ${date}`,
  noDate: "no date",
  cannot: "cannot be delivered",
  state: { open: "", overtaken: "Overtaken", accepted: "Accepted" },
  gone: "a line that is gone",
  reference: (value: string) => `Supplier's number: ${value}`,
  tracking: (value: string) => `Tracking number: ${value}`,
  earlier: "Earlier answers",
  earlierOf: {
    open: "open",
    overtaken: "overtaken",
    accepted: "accepted",
    rejected: "rejected",
    replaced: "replaced by a newer one",
  },
  by: (name: string) => `by ${name}`,
  link: "Link for the supplier",
  linkHelp: "By a link the supplier sees this order, downloads it and answers it, without signing in.",
  make: "Make a link",
  made: "Link for the supplier",
  madeLabel: "Link",
  madeHint: (until: string) => `It works until ${until}. Whoever has it sees this order.`,
  until: (until: string, who: string | null) => `Works until ${until}${who === null ? "" : ` · made by ${who}`}`,
  revoke: "Revoke",
  revokeOf: (until: string) => `Revoke the link that works until ${until}`,
  noLinks: "There is no link now.",
} as const);
