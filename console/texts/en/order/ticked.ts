/** Texts of what is done with several orders at once. They are loaded when one is ticked in the list. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

const orders = (count: number): string => plural(count, "order", "orders");

export const tickedTexts = isolating({
  bar: "With the selected orders",
  selected: (count: number) => `${number(count)} selected`,
  clear: "Clear the selection",
  send: "Send",
  move: "Move",
  noMove: "No step is open to all of them. Select orders of one status.",
  noSend: "Send: only drafts are sent to several suppliers at once.",
  noMerge: "Merge: select at least two drafts of one supplier, location and currency.",
  more: "More",
  print: "Print",
  pdf: "Download PDF",
  csv: "Export CSV",
  tooMany: (max: number) => `At most ${number(max)} documents at a time.`,
  running: (done: number, of: number) => `${number(done)} of ${number(of)} …`,
  count: orders,
  done: (count: number) => `${orders(count)} done`,
  refused: (count: number) => `${number(count)} refused`,
  waiting: (count: number) => plural(count, "waits for approval", "wait for approval"),
  noAddress: "The supplier has no e-mail address. Add one to the supplier, or send the order on its own.",
  stale: "Somebody has changed it meanwhile. Look at it, then try again.",
  close: "Close",
  sendTitle: (count: number) => `Send ${orders(count)} to the suppliers?`,
  sendText:
    "Each supplier gets an e-mail with the order as PDF, the usual words and a link to answer by. The orders are moved to Sent. An e-mail cannot be taken back.",
  moveTitle: (action: string, count: number) => `${action}: ${orders(count)}?`,
  merge: "Merge",
  mergeTitle: (count: number) => `Merge ${number(count)} drafts?`,
  mergeInto: "Draft that stays",
  mergeText:
    "The other drafts end, and their lines go over to it. Their notes, dates, shipping and discounts do not. This cannot be undone.",
  lines: (count: number) => plural(count, "line", "lines"),
  noSupplier: "no supplier",
  /** With suppliers, products or locations. */
  records: {
    bar: "With the selected rows",
    selected: (count: number) => `${number(count)} selected`,
    archived: (count: number) => `${number(count)} archived`,
    broughtBack: (count: number) => `${number(count)} brought back`,
    done: (count: number) => `${number(count)} done`,
    refused: (count: number) => `${number(count)} refused`,
  },
} as const);
