/** Events of the counts, and their outcomes. */
import type { CodeMatch } from "../../src/core/goods/codes.ts";
import type { QuantityKind } from "./amounts.ts";

export type CountEvent =
  | { readonly kind: "scan"; readonly code: string }
  /** A new total, as it was typed. */
  | { readonly kind: "typed"; readonly lineId: string; readonly part: QuantityKind; readonly text: string }
  /** The answer to the question: count it all the same. */
  | { readonly kind: "allow" }
  /** Others' receipts leave too little room for my counts: receive them all the same. */
  | { readonly kind: "allow-all" }
  | { readonly kind: "undo" }
  /** Takes all counts back; one step, so that it can be undone. */
  | { readonly kind: "discard" }
  | { readonly kind: "all-remaining" }
  /** The rest of a line does not come. */
  | { readonly kind: "short"; readonly lineId: string }
  | { readonly kind: "sending" }
  /** The save went through; the lines have the new totals. */
  | { readonly kind: "saved" }
  /** The save wrote nothing. */
  | { readonly kind: "not-saved" };

export type Outcome =
  | {
      readonly kind: "counted";
      readonly lineId: string;
      readonly amount: number;
      readonly total: number;
      /** Of a scan: why it counts so many. */
      readonly countsAs?: CodeMatch["countsAsReason"];
    }
  | { readonly kind: "unknown" | "ambiguous" | "unreadable"; readonly text: string }
  | { readonly kind: "over" | "complete"; readonly lineId: string; readonly amount: number }
  | { readonly kind: "below"; readonly lineId: string; readonly least: number }
  | { readonly kind: "undone"; readonly lineId: string; readonly lines: number }
  | { readonly kind: "counted-all"; readonly lines: number }
  | { readonly kind: "nothing" };
