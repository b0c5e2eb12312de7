/** Texts of receiving and of the dock. They are loaded with these screens. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

export const receiveTexts = isolating({
  title: (poNumber: string) => `Receive ${poNumber}`,
  back: (poNumber: string) => `Order ${poNumber}`,
  to: (location: string) => `To ${location}`,
  notReceivable: (status: string) =>
    `Goods are received when an order is In Progress, Partially Received or Received. This one is ${status}.`,
  toOrder: "Go to the order",
  elsewhere: "This order is being counted in another tab of this browser. Close it to go on here.",
  scan: "Scan",
  ready: "Ready to scan",
  undo: "Undo last",
  all: "Receive all remaining",
  save: "Receive",
  saveAgain: "Send again",
  counted: (lines: number) => plural(lines, "line counted", "lines counted"),
  noneCounted: "Nothing counted yet",
  sending: "Saving …",
  waiting: "The server does not answer. Your counts are kept on this device and are sent again by themselves.",
  saved: (lines: number) => plural(lines, "line received.", "lines received."),
  allHere: "Everything that was ordered is here or settled.",
  missing: (lines: number) => plural(lines, "line is still to come:", "lines are still to come:"),
  next: (order: string) => `Receive next: ${order}`,
  syncAgain: "Push stock again",
  unkept: "This browser keeps no data. Your counts are lost when this page is closed.",
  doubtful: {
    message: "This save is a day old and may have been recorded.",
    action: "Compare the totals with the goods. Then receive again, or discard your counts.",
  },
  discard: "Discard counts",
  somebody: "somebody",
  othersCounts: (name: string, lines: number) =>
    `Counts of ${name} on this device were not saved: ${plural(lines, "line", "lines")}.`,
  othersDoubtful:
    "They were being saved, and the order has changed since: perhaps they are recorded. Compare the totals with the goods first.",
  takeOver: "Take them over",
  discardOthers: (name: string) => `Discard counts of ${name}`,
  asking: "Others have received in the meantime. With your counts there is more than was confirmed:",
  askingLine: (product: string, over: string) => `${product}: ${over} more`,
  allowAll: "Receive it all the same",
  allow: "Count it all the same",
  activate: "Make active and receive",
  skip: "Receive without the storefront",
  ofBase: (total: string, base: string) => `${total} of ${base}`,
  mine: (amount: string) => `+${amount} not saved`,
  parts: { received: "Received", rejected: "Rejected", cancelled: "Short" },
  more: "Reject or short",
  short: "The rest does not come",
  outcome: {
    countsAs: {
      piece: "",
      pack: " (one pack)",
      count: " (as the code says)",
      "unknown-pack": " (a pack of unknown size, counted as one)",
    },
    counted: (amount: string, total: string, base: string, product: string) =>
      `${amount} → ${total} of ${base} ${product}`,
    unknown: (code: string) => `“${code}” is not on this order. Nothing was counted.`,
    ambiguous: (code: string) => `“${code}” is the code of several products. Type the quantity at the right line.`,
    unreadable: (text: string) => `“${text}” is no quantity. Nothing was counted.`,
    over: (product: string) => `More than confirmed: ${product}. Nothing was counted.`,
    complete: (product: string) => `Already complete: ${product}. Nothing was counted.`,
    below: (least: string, product: string) =>
      `${least} of ${product} are recorded already. Goods are taken back on the order.`,
    undone: (product: string, more: number) =>
      more === 0 ? `Undone: ${product}` : `Undone: ${product} and ${number(more)} more`,
    countedAll: (lines: number) => plural(lines, "line filled up", "lines filled up"),
  },
} as const);

export const dockTexts = isolating({
  title: "Receive",
  lead: "Scan any box to see the open orders that wait for it, or a delivery note to open its order.",
  none: (code: string) => `No open order waits for “${code}”.`,
  found: (code: string, lines: number) =>
    lines === 1 ? `1 open line waits for “${code}”` : `${number(lines)} open lines wait for “${code}”`,
  pending: (quantity: string) => `${quantity} pending`,
  expected: (date: string) => `expected ${date}`,
  enter: "Enter receives on the first.",
  pack: (pieces: string) => `One scan is a pack of ${pieces}`,
  count: (pieces: string) => `One scan is ${pieces}`,
  unknownPack: "A pack of unknown size: a scan counts one",
  notYet: "Not in progress yet",
  nothing: "Nothing waits to be received.",
  nothingHint: "An order stands here once work on it has begun. Goods are then counted by scan or by hand.",
  toOrders: "See all orders",
} as const);
