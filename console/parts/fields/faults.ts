/**
 * Mistakes and advice in the person's words. The service says each in a sentence (C3 has no place for its kind). The
 * sentences of what a form or a file can cause are known here, and their limits and quantities go into the words.
 * `test/console/look/faults.test.ts` holds that all kinds have words.
 */
import { number, withoutPaths } from "../../data/format.ts";
import type { Refused } from "../../data/session.ts";
import { faultTexts } from "../../texts/en/faults.ts";

/** Beginnings of the sentences of each kind, with what they say of limits. The first that matches counts. */
type Sentences = readonly (readonly [keyof typeof faultTexts, RegExp])[];

const sentences: Sentences = [
  ["oneOf", /^(?:is (?:needed and|unknown: .+; it) )?must be one of (.+)/],
  ["oneOf", /^must be (active, .+), not/],
  ["noAddress", /^is needed: .* e-mail/],
  ["needed", /^(?:is (?:required|needed)|must not be empty)/],
  ["tooLong", /^must (?:(?:have|be) at most|not be longer than) (\d+) char/],
  ["tooMany", /^(?:must have|to and cc .*) at most (\d+) (?:item|entr|are)/],
  ["decimals", /^must have at most (\d+) dec/],
  ["atLeast", /^must be (\S+) or more/],
  ["noNumber", /^must be a number like \S+, not (.+)/],
  ["noNumber", /^(.+) can be read as/],
  ["atMost", /^(?:must be|is above auditRetentionDays, which is) ([\d.]+)(?: or less|$)/],
  ["above", /^must be above (\S+)/],
  ["number", /^must be a number/],
  ["tooLarge", /^(?:a number that|has too many digits)/],
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
  ["twice", /^(?:is about the same )?(.+?) (?:as line|is given twice$|is the number of order)/],
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
  ["tooDear", /worth more than ([\d.]+?)(?:\.?$|, one of)/],
  ["hasGoods", /^(?:Goods were|Stock of the line)/],
  ["noLine", /^The order has no such line|is not a line of the order$|is no item of this order$/],
  ["notConfirmed", /^has no confirmed/],
  ["placeStays", /^cannot change while/],
  ["noStock", /^cannot be set while the variant/],
  ["customId", /^begins with (\S+), which marks custom lines; use/],
  ["noFont", /^has the character (.+) in .* no font/],
  ["noProduct", /^(?:no variant has|the catalogue has) /],
  ["products", /^is of \d+ variants: (.+);/],
  ["sameProduct", /^is of (.+), like (.+)/],
  ["owned", /^comes from (.+)/],
  ["peopleOnly", /^is changed by people/],
  ["retention", /^must be 0 \(for good\) or at least (\d+)/],
  ["ownCurrency", /^is the shop's own/],
  ["logoLarge", /^(?:has|unpacks to) .* Save it smaller/],
  ["other", /^is (?:the (?:order|supplier) itself|no (?:order|supplier) of)/],
  ["noMerge", /both orders must be D|^has (?:another|goods, p)/],
  ["merged", /^was merged into (.+)/],
  ["manyToMerge", /^The supplier has more than (\d+) orders/],
  ["noColumn", /^there is no column "?([^"]+)/],
  ["notText", /^is not UTF-8|^the file is empty/],
  ["tooLong", /^is longer than (\d+) bytes/],
  ["tooMany", /^has more than (\d+) values/],
  ["cells", /^(?:has (?:more or|a quote)|begins a q)/],
  ["digitsLost", /^is the error of a formula, (.+)/],
  ["digitsLost", /^(.+) is what a spreadsheet/],
  ["ofSeveral", /^(.+) is (?:the (?:name of s|id of an)|of (?:\d+ v|a case))/],
  ["tooMany", /^is name number .* is (\d+)/],
  ["which", /^must name its/],
  ["ofSeveral", /^is of variant .+, but (.+) of variant/],
  ["tooMuch", /^(?:must not be above|received, rejected and)/],
  [
    "otherKind",
    /^(?:unknown f|The line is|is given m|cannot be .+ for an)|^must be (?:an? )?(?:true or false|JSON object|[A-Za-z-]+)(?: or |$)/,
  ],
  [
    "logoFile",
    /^(?:must be (?:a PNG|base64)|is (?:empty|a damaged|an interlaced)|(?:is|has|must be) (?:an|\d+) SVG|has the colour)/,
  ],
];

/** The same of advice. What matches none is for programs. */
const advice: Sentences = [
  ["again", /^(?:Repeat the call(?! with)|Approve it|Send .*again|Try|Begin|Wait|Check the a)/],
  // The page of an order offers what its status allows.
  [
    "anew",
    /^(?:Read|Look at|Load|List th|Move|Choose one|Reopen|Reject|Confirm|(?:Use )?POST|Goods|Record|Delete the d)/,
  ],
  ["owner", /^(?:Ask an owner of|Stay|Leave it to)/],
  ["operator", /^(?:The operator s|Ask the op|Change the shop|Start)/],
  ["peopleOnly", /^Sign in/],
  ["otherOwner", /^Make somebody else/],
  ["closePage", /^You can close/],
  ["owned", /^(?:Add or delete .+|Change it|Count it) in (\w+); the next/],
];

/** A part of the sentence as a person reads it. */
const shown = (part: string): string => (/^-?\d+(?:\.\d+)?$/.test(part) ? number(Number(part)) : part);

/** The sentence in words; null where there are none. */
function wordsIn(known: Sentences, message: string): string | null {
  for (const [kind, sentence] of known) {
    const parts = sentence.exec(message);
    if (parts !== null)
      return faultTexts[kind].replaceAll(/\$(\d)/g, (_, nth: string) => shown(parts[Number(nth)] ?? ""));
  }
  return null;
}

/** The mistake in words; the service's own sentence where there are none. */
export const faultIn = (message: string): string => wordsIn(sentences, message) ?? message;

/** Advice in words; null where it is for programs. */
export const adviceIn = (action: string): string | null => wordsIn(advice, action);

/** Mistakes that the words of the whole name. */
const namedMax = 3;

/** The mistake after the name of its field; without it where that is the order or supplier of the call itself. */
const named = (path: string, message: string): string =>
  /^\/(?:into|purchaseOrderId)$/.test(path) ? message : withoutPaths(`${path}: ${message}`);

/** The refusal with its mistakes and advice in words, and with words of the whole where each mistake has them. */
export function inWords<Told extends Refused>(refused: Told): Told {
  const told = { ...refused, action: refused.action === null ? null : adviceIn(refused.action) };
  const details = (told.details ?? []).map((each) =>
    "message" in each ? { ...each, message: faultIn(each.message) } : each,
  );
  const all = details.flatMap((each, nth) => {
    const before = told.details?.[nth];
    const isInWords =
      "path" in each && each.path !== "" && before !== undefined && "path" in before && before.message !== each.message;
    return isInWords ? named(each.path, each.message) : [];
  });
  if (details.length === 0) {
    const message = wordsIn(sentences, told.message);
    return message === null ? { ...told, details } : { ...told, details, message, isInWords: true };
  }
  if (all.length < details.length) return { ...told, details };
  return { ...told, details, message: all.slice(0, namedMax).join(" "), action: null, isInWords: true };
}
