/**
 * Mistakes in the person's words. The service says each in a sentence, beside its path (C3). The sentences of what a
 * form can cause are known here, and their limits and quantities go into the words.
 * `test/console/look/faults.test.ts` holds that all kinds have words.
 */
import { fieldName, number } from "../../data/format.ts";
import type { Refused } from "../../data/session.ts";
import { faultTexts } from "../../texts/en/faults.ts";

/** Beginnings of the sentences of each kind, with what they say of limits. The first that matches counts. */
const sentences: readonly (readonly [keyof typeof faultTexts, RegExp])[] = [
  ["noAddress", /^is needed: .* e-mail/],
  ["needed", /^(?:is (?:required|needed)|must not be empty)/],
  ["tooLong", /^must have at most (\d+) char/],
  ["tooMany", /^(?:must have|to and cc .*) at most (\d+) (?:item|entr|are)/],
  ["decimals", /^must have at most (\d+) dec/],
  ["atLeast", /^must be (\S+) or more/],
  ["atMost", /^(?:must be|is above auditRetentionDays, which is) ([\d.]+)(?: or less|$)/],
  ["above", /^must be above (\S+)/],
  ["number", /^must be a number/],
  ["tooLarge", /^a number that/],
  ["whole", /^must be a whole/],
  ["day", /^must be a (?:day|time) as/],
  ["currency", /^must be a currency/],
  ["country", /^must be a country/],
  ["email", /^must be (?:an )?e-mail/],
  ["noLink", /^cannot be made here/],
  ["medusaUrl", /^must be https:/],
  ["hookHttp", /^must begin with https:\/\/; http/],
  ["url", /^must (?:be an abs|begin with|have \/\/|not contain)/],
  ["hookShut", /^is at an address/],
  ["storeShut", /^may not be conn/],
  ["hidden", /^has (U\+\w+);/],
  ["timezone", /^must be a time zone/],
  ["twice", /^(.+) is given twice$/],
  ["nameTaken", /^is the name of/],
  ["secret", /^must be (?:printable|a secret)/],
  ["shopifyDomain", /^(?:must be host|is not a store)/],
  ["noSeal", /^cannot be stored: (\w+)/],
  ["notMedusa", /^leads to no/],
  ["currencies", /^(?:sells|counts) in (.+) and the shop(?: counts)? in (\w+)/],
  ["noPlace", /^has no (?:active|stock) loc/],
  ["scopes", /^lacks the scopes (.+)/],
  ["refused", /^was refused:/],
  ["aboveOrdered", /^(\S+) is above the ordered quantity, (\S+)/],
  ["belowReceived", /^(?:quantityOrdered )?(\S+) is below (?:what is already .*, |the received )([\d.]+)/],
  ["belowConfirmed", /^quantityOrdered (\S+) is below the confirmed ([\d.]+)/],
  ["aboveConfirmed", /^received.* would be ([\d.]+).* above the confirmed .*?([\d.]+?)\.?$/i],
  ["aboveOrdered", /^received.* would be ([\d.]+).* above the ordered .*?([\d.]+?)\.?$/i],
  ["aboveReceived", /^(\S+) is more than was received, (\S+)/],
  ["tooDear", /worth more than ([\d.]+?)\.?$/],
  ["hasGoods", /^(?:Goods were|Stock of the line)/],
  ["noLine", /^The order has no such line|is not a line of the order$/],
  ["notConfirmed", /^has no confirmed/],
  ["placeStays", /^cannot change while/],
  ["noFont", /^has the character (.+) in .* no font/],
  ["noProduct", /^no variant has it/],
  ["products", /^is of \d+ variants: (.+);/],
  ["sameProduct", /^is of (.+), like (.+)/],
  ["owned", /^comes from (.+)/],
  ["peopleOnly", /^is changed by people/],
  ["retention", /^must be 0 \(for good\) or at least (\d+)/],
  ["ownCurrency", /^is the shop's own/],
  ["logoLarge", /^(?:has|unpacks to) .* Save it smaller/],
  [
    "logoFile",
    /^(?:must be (?:a PNG|base64)|is (?:empty|a damaged|an interlaced)|(?:is|has|must be) (?:an|\d+) SVG|has the colour)/,
  ],
];

/** A part of the sentence as a person reads it. */
const shown = (part: string): string => (/^-?\d+(?:\.\d+)?$/.test(part) ? number(Number(part)) : part);

/** The mistake in words; the service's own sentence where there are none. */
export function faultIn(message: string): string {
  for (const [kind, sentence] of sentences) {
    const parts = sentence.exec(message);
    if (parts !== null)
      return faultTexts[kind].replaceAll(/\$(\d)/g, (_, nth: string) => shown(parts[Number(nth)] ?? ""));
  }
  return message;
}

/** Mistakes that the words of the whole name. */
const namedMax = 3;

/** The name of the field at this path. */
const nameAt = (path: string): string => fieldName(path.split("/").findLast((step) => /^[a-z]/i.test(step)) ?? "");

/** The refusal with its mistakes in words, and with words of the whole where each mistake has them. */
export function inWords<Told extends Refused>(told: Told): Told {
  const details = (told.details ?? []).map((each) =>
    "message" in each ? { ...each, message: faultIn(each.message) } : each,
  );
  const named = details.flatMap((each, nth) => {
    const before = told.details?.[nth];
    const isInWords =
      "path" in each && each.path !== "" && before !== undefined && "path" in before && before.message !== each.message;
    return isInWords ? `${nameAt(each.path)}: ${each.message}` : [];
  });
  if (named.length < details.length || named.length === 0) return { ...told, details };
  return { ...told, details, message: named.slice(0, namedMax).join(" "), action: null, isInWords: true };
}
