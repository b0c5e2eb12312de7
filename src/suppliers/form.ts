/**
 * The form of a supplier's answer, as a browser sends it.
 *
 * Owns: what its fields mean. An empty field says nothing; a date that is the order's own says nothing new.
 */
import { filled } from "../base/text/filled.ts";
import { quantityFrom, quantityMax, type Quantity, zeroQuantity } from "../core/money/money.ts";
import { plainTextProblem, type TextForm } from "../base/text/plain-text.ts";
import type { LineItem, PurchaseOrder } from "../core/order/purchase-order.ts";
import {
  type LineAnswer,
  mayAnswer,
  mayConfirm,
  saysNothing,
  type SupplierAnswer,
} from "../core/supplier/supplier-proposals.ts";
import { day, noteMax, shortTextMax } from "../operations/fields.ts";
import { articleOf, fieldOf, type FormError } from "./page.ts";
import type { Language } from "../base/text/language.ts";
import { languageNamed, marksIn, textsIn } from "./texts.ts";

/** Values of the form. */
export interface Form {
  readonly values: ReadonlyMap<string, string>;
  /** After which position its lines begin; null: with the first. */
  readonly after: number | null;
  /** The lines that it has fields for. */
  readonly lineIds: ReadonlySet<string>;
}

interface FormReading {
  readonly form: Form;
  /** Of no meaning when there are errors. */
  readonly answer: SupplierAnswer;
  readonly errors: readonly FormError[];
}

/** By what a form is read. */
interface ReadBy {
  /** Of the page that its mistakes are shown on. */
  readonly language: Language;
  /** The shop's day. */
  readonly today: string;
}

/** Reads the form by the order as it is now, its numbers in the language of the page that it stood on. */
export function readForm(sent: URLSearchParams, order: PurchaseOrder, { language, today }: ReadBy): FormReading {
  const texts = textsIn[language];
  const typedIn = languageNamed(sent.get("language"), language);
  const values = new Map(sent);
  const lineIds = new Set(sent.getAll("line"));
  const after = sent.has("after") ? Number(sent.get("after")) : Number.NaN;
  const errors: FormError[] = [];
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  const answers: LineAnswer[] = [];
  const form = { values, after: Number.isSafeInteger(after) ? after : null, lineIds };
  const dayOfAll = (values.get(fieldOf.dayOfAll) ?? "").trim();
  const problemOfAll = dayOfAll === "" ? null : dayProblem(dayOfAll, today);
  if (problemOfAll !== null) errors.push({ field: fieldOf.dayOfAll, article: null, message: texts[problemOfAll] });
  if (!mayAnswer(order) || [...lineIds].some((lineItemId) => !lines.has(lineItemId)))
    errors.push({ field: null, article: null, message: texts.changed });
  for (const lineItemId of lineIds) {
    const line = lines.get(lineItemId);
    const answer =
      line === undefined
        ? null
        : lineAnswerOf(line, values, { withQuantity: mayConfirm(order), language: typedIn, today, dayOfAll });
    if (line === undefined || answer === null) continue;
    const article = articleOf(line);
    if (answer.badQuantity) errors.push({ field: fieldOf.quantity(lineItemId), article, message: texts.badQuantity });
    if (answer.dayProblem !== null)
      errors.push({ field: fieldOf.date(lineItemId), article, message: texts[answer.dayProblem] });
    if (answer.line !== null) answers.push(answer.line);
  }
  const textOf = (name: string, article: string, form: TextForm, max: number): string | null => {
    // A browser ends the lines of a form with a carriage return too.
    const value = (values.get(name) ?? "").trim().replaceAll("\r\n", "\n");
    if (value.length > max) errors.push({ field: name, article, message: filled(texts.tooLong, { max: String(max) }) });
    if (plainTextProblem(value, form) !== null) errors.push({ field: name, article, message: texts.notPlain[form] });
    return value === "" ? null : value;
  };
  const answer = {
    lines: answers,
    reference: textOf("reference", texts.reference, "line", shortTextMax),
    trackingNumber: textOf("trackingNumber", texts.tracking, "line", shortTextMax),
    message: textOf("message", texts.message, "lines", noteMax),
  };
  if (errors.length === 0 && saysNothing(answer)) errors.push({ field: null, article: null, message: texts.nothing });
  return { form, answer, errors };
}

interface LineReading {
  /** Null: nothing was said. */
  readonly line: LineAnswer | null;
  readonly badQuantity: boolean;
  /** The date is none; or it is another than the order's, and over. */
  readonly dayProblem: DayProblem | null;
}

type DayProblem = "badDate" | "pastDate";

const dayProblem = (typed: string, today: string): DayProblem | null =>
  !day.safeParse(typed).success ? "badDate" : typed < today ? "pastDate" : null;

function lineAnswerOf(
  line: LineItem,
  values: ReadonlyMap<string, string>,
  { withQuantity, language, today, dayOfAll }: ReadBy & { readonly withQuantity: boolean; readonly dayOfAll: string },
): LineReading {
  const { poLineItemId: lineItemId } = line;
  const isTicked = withQuantity && values.has(fieldOf.cannot(lineItemId));
  const typedQuantity = withQuantity && !isTicked ? (values.get(fieldOf.quantity(lineItemId)) ?? "").trim() : "";
  // The day of all articles takes the place of their own.
  const typedDate = dayOfAll || (values.get(fieldOf.date(lineItemId)) ?? "").trim();
  const quantity = typedQuantity === "" ? null : quantityOf(typedQuantity, language);
  const isNothing = isTicked || quantity === 0;
  const quantityConfirmed = isNothing ? zeroQuantity : quantity;
  const isNews = typedDate !== "" && typedDate !== line.expectedDeliveryDate;
  const problem = dayOfAll === "" && isNews ? dayProblem(typedDate, today) : null;
  const expectedDeliveryDate = isNews && !isNothing && problem !== "badDate" ? typedDate : null;
  return {
    line:
      quantityConfirmed === null && expectedDeliveryDate === null
        ? null
        : { lineItemId, quantityConfirmed, expectedDeliveryDate, cannotDeliver: isNothing },
    badQuantity: typedQuantity !== "" && quantity === null,
    dayProblem: problem === "pastDate" && isNothing ? null : problem,
  };
}

/** Digits in threes, or without a break, and decimals behind a point. */
const numberText = /^(?:\d{1,3}(?: \d{3})+|\d+)(?:\.\d+)?$/;

/**
 * Returns the typed quantity, as the page writes it in its language. "1.500" is fifteen hundred on a German page, and
 * one and a half on an English one. The other mark is taken for a decimal one where it can be nothing else. Null when
 * it is none.
 */
export function quantityOf(typed: string, language: Language): Quantity | null {
  const { group, decimal } = marksIn[language];
  const other = decimal === "." ? "," : ".";
  const isOther = new RegExp(`^\\d+[${other}](?:\\d{1,2}|\\d{4,})$`).test(typed);
  const plain = isOther
    ? typed.replace(other, ".")
    : typed.replaceAll(group, " ").replace(other, "?").replace(decimal, ".");
  const number = numberText.test(plain) ? Number(plain.replaceAll(" ", "")) : Number.NaN;
  return number >= 0 && number <= quantityMax ? quantityFrom(number) : null;
}
