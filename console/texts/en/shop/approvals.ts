/** Texts of approval requests. They are loaded with what shows them. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import { plural } from "../../plural.ts";

const requests = (count: number): string => plural(count, "request", "requests");

export const approvalTexts = isolating({
  title: "Approvals",
  back: "Approvals",
  status: "Show",
  statuses: {
    pending: "Waiting",
    all: "All",
    approved: "Approved",
    rejected: "Rejected",
    withdrawn: "Withdrawn",
    expired: "Expired",
    overtaken: "Overtaken",
    failed: "Failed",
  },
  shown: (count: number, total: number) => `${number(count)} of ${requests(total)}`,
  more: "Load more",
  yours: "You decide",
  others: "Others decide",
  empty: "Nothing waits for approval.",
  emptyOther: "There are no such requests.",
  emptyHint:
    "What an assistant may only propose, what is beyond its limits, and orders that meet a rule of the shop wait here until a person says yes.",
  toKeys: "Give a key the scope Propose",
  toRules: "Set rules",
  moves: (order: string, status: string) => `${order}: move to ${status}`,
  asks: (who: string) => `${who} asks`,
  asked: "Asked by",
  inNameOf: (name: string) => `for ${name}`,
  byKey: (keyId: string) => `key ${keyId}`,
  askedAt: "Asked",
  until: "Waits until",
  supplier: "Supplier",
  value: "Value",
  order: "Order",
  why: "Why it needs approval",
  causes: {
    scope: "Its key may only propose this.",
    rule: (name: string) => `Rule “${name}”.`,
    supplierIds: "Its key may not order from this supplier.",
    locationIds: "Its key may not order for this location.",
    orderValueMax: "An order",
    dayValueMax: "A day's orders",
    monthValueMax: "A month's orders",
    limit: (of: string, allowed: string) => `${of}: ${allowed} at most`,
    used: (used: string) => `${used} used`,
    adds: (asked: string) => `this asks for ${asked}`,
    unpriced: "this has no exchange rate",
    rise: (allowed: number, asked: number | null) =>
      `A unit cost may rise by ${number(allowed)} % at most; ${asked === null ? "what it was is not known" : `this raises one by ${number(asked)} %`}.`,
  },
  cover: "Stock and cover",
  stock: (onHand: string, incoming: string) => `${onHand} on hand, ${incoming} incoming`,
  days: (before: number | null, after: number | null) =>
    before === null || after === null
      ? "No sales"
      : `Cover: ${number(Math.floor(before))} → ${number(Math.floor(after))} days`,
  what: "What will change",
  wouldHave: "What would have changed",
  changed: "What changed",
  reason: "Reason",
  noFields: "No single field is named for this.",
  lines: "What is ordered",
  moreLines: (count: number) => `and ${number(count)} more`,
  comment: "Comment",
  commentHint: "Whoever asked reads it.",
  approve: (count: number) => (count === 1 ? "Approve" : `Approve ${number(count)}`),
  reject: (count: number) => (count === 1 ? "Reject" : `Reject ${number(count)}`),
  withdraw: "Withdraw",
  tick: (title: string) => `Choose ${title}`,
  ticked: (count: number) => `${number(count)} chosen`,
  working: "One moment …",
  othersDecide: "You cannot decide this one.",
  needs: "It needs approval first",
  askToSend: "Ask to send",
  ask: "Ask for approval",
  ofOrder: "Waits for approval",
  see: "See what will change",
  became: {
    approved: (who: string) => `Approved by ${who}, and done.`,
    rejected: (who: string) => `Rejected by ${who}. Nothing was done.`,
    withdrawn: (who: string) => `Taken back by ${who}. Nothing was done.`,
    expired: () => "Nobody decided in time. Nothing was done.",
    overtaken: (who: string) =>
      `${who} approved it, but the order had changed: it would have done something else by then. Nothing was done.`,
    failed: (who: string) => `${who} approved it, but it was refused by then. Nothing was done.`,
  },
  shownThen: "What was asked for",
  shownNow: "What it would have done when it was approved",
} as const);
