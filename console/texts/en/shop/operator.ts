/** Texts of the operator's screen. They are loaded with it. */

import { isolating } from "../../isolated.ts";

const zeroTo = (most: string): string => `0 to ${most}`;

export const operatorTexts = isolating({
  lead: "You are the operator: every shop of this service.",
  locked:
    "To see what shops hold, and to change settings, give the admin token once more. It stays in this page's memory.",
  unlock: "Show more",
  open: (name: string) => `Open ${name}`,
  allShops: "All shops",
  noShop: (shopId: string) => `There is no shop ${shopId}.`,
  notYours: "This page is the operator's",
  notYoursHint: "It shows all shops of the service. Sign in with the admin token to see it.",
  empty: "There is no shop yet.",
  emptyHint: "On the server, openpo shop create makes one, and openpo demo one with data to try.",
  columns: {
    shop: "Shop",
    orders: "Orders",
    suppliers: "Suppliers",
    locations: "Locations",
    variants: "Products",
    keys: "Keys",
    settings: "Settings",
  },
  health: { good: "The service is ready.", bad: "The service is not ready." },
  faults: {
    title: "Faults of the sandbox",
    lead: "For rehearsals. What is set here replaces what was set before; without any fault the sandbox works.",
    latencyMs: { label: "Each call takes (ms)", hint: `${zeroTo("600,000")}.` },
    applyDelayMs: {
      label: "A stock change shows after (ms)",
      hint: `${zeroTo("600,000")}.`,
    },
    fault: (number: number) => `Fault ${number}`,
    call: "Call",
    everyCall: "every call",
    outcome: "What happens",
    outcomes: {
      error: "error: nothing was done",
      throttled: "throttled: nothing was done",
      timeout: "timeout: no answer, nothing was done",
      refused: "refused: these products, for good",
      "lost-response": "lost response: it was done, no answer",
    },
    variantIds: { label: "Only with these variants", hint: "Variant ids with commas between them; empty: all." },
    times: { label: "Times", hint: "Empty: always." },
    add: "Add a fault",
    remove: (number: number) => `Remove fault ${number}`,
    set: "Set faults",
  },
} as const);
