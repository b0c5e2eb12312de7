/**
 * The pages that suppliers see: an order with the form of their answer, and what is shown in its place (C64).
 *
 * Owns: how they look, and which fields of an order a supplier sees: those of the order's document. What is the shop's
 * own (`note`, tags, payments) is not among them. The pages work without script, load nothing, and name no other place.
 */
import { filled } from "../base/text/filled.ts";
import { createHash } from "node:crypto";
import { dateOf, dayIn } from "../base/time/calendar.ts";
import { packsText } from "../core/supplier/packs.ts";
import { isWhollyCancelled, lineTotal } from "../core/order/lines.ts";
import { writtenDecimals } from "../core/money/minor-units.ts";
import {
  type Money,
  moneyDecimalsMax,
  moneyToNumber,
  quantityToNumber,
  subtractQuantity,
} from "../core/money/money.ts";
import type { Address, Header, LineItem } from "../core/order/purchase-order.ts";
import { isHeld } from "../core/order/status.ts";
import { mayAnswer, mayConfirm, type SupplierProposal } from "../core/supplier/supplier-proposals.ts";
import { noteMax, shortTextMax } from "../operations/fields.ts";
import { Html, markup } from "./markup.ts";
import type { Language } from "../base/text/language.ts";
import { type Texts, textsIn } from "./texts.ts";

/** With the colours of the console's page of tokens. */
const styles = `
:root { color-scheme: light dark; --line: #e3e6e7; --quiet: #596166; --page: #f6f7f7; --card: #fff; --text: #15191b;
  --accent: #0a6570; --on-accent: #fff; --good: #e4f4e7; --bad: #fdeae9; --bad-text: #9a1b1b; --field: #fff; --field-line: #7d8588; }
@media (prefers-color-scheme: dark) { :root { --line: #2b3235; --quiet: #a3acb1; --page: #111415; --card: #191d1f;
  --text: #edf0f1; --accent: #62cad6; --on-accent: #06262b; --good: #183a21; --bad: #47201f; --bad-text: #ffaaa5;
  --field: #191d1f; --field-line: #778186; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 0.9375rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 48rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -0.015em; margin: 0; }
h2 { font-size: 1.0625rem; margin: 2rem 0 0.5rem; }
p { margin: 0.5rem 0; }
a { color: var(--accent); }
.quiet { color: var(--quiet); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 0.75rem; padding: 0.75rem 1rem; margin: 0.75rem 0; }
.told { border-radius: 0.5rem; padding: 0.75rem 1rem; margin: 1rem 0; background: var(--card); border: 1px solid var(--line); }
.good { background: var(--good); }
.bad { background: var(--bad); color: var(--bad-text); }
.bad a { color: inherit; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.5rem 1rem; margin: 0.5rem 0; }
dl .long { grid-column: 1 / -1; }
dt { color: var(--quiet); font-size: 0.8125rem; }
dd { margin: 0; white-space: pre-line; }
dd.figure { font-variant-numeric: tabular-nums; }
dl.sums { grid-template-columns: minmax(0, 18rem); justify-content: end; gap: 0.25rem; }
.sums div { display: flex; justify-content: space-between; gap: 1rem; }
.sums dt { font-size: inherit; }
.sums div:last-child { padding-top: 0.25rem; border-top: 1px solid var(--line); font-weight: 600; }
.sums div:last-child dt { color: inherit; }
fieldset { min-width: 0; }
legend { float: left; width: 100%; padding: 0; font-weight: 600; }
legend + * { clear: both; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.75rem; align-items: end; margin: 0.75rem 0 0.25rem; }
label { display: block; font-weight: 500; font-size: 0.8125rem; margin-bottom: 0.25rem; }
input, textarea { accent-color: var(--accent); font: inherit; font-size: 1rem; color: inherit; background: var(--field); border: 1px solid var(--field-line); border-radius: 0.5rem; }
input[type=text], input[type=date], textarea { width: 100%; min-height: 2.75rem; padding: 0.35rem 0.6rem; }
input[type=checkbox] { width: 1.35rem; height: 1.35rem; margin: 0 0.6rem 0 0; flex: none; }
[aria-invalid] { border: 2px solid var(--bad-text); }
.tick { display: flex; align-items: center; min-height: 2.75rem; margin: 0; font-size: inherit; font-weight: 400; }
.error { color: var(--bad-text); margin: 0.25rem 0 0; }
button { font: inherit; font-weight: 600; min-height: 3rem; padding: 0.5rem 1.5rem; border: 0; border-radius: 0.5rem;
  background: var(--accent); color: var(--on-accent); cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 30rem) { button { width: 100%; } }
ul.errors { margin: 0.25rem 0; padding-left: 1.25rem; }
.links a { display: inline-block; padding: 0.5rem 1rem 0.5rem 0; }
@media print { form button, .links { display: none; } }
`;

/** Policy of the pages: they may do nothing but look as they do, and send their form to where they came from. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(styles).digest("base64")}'`,
  "img-src data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Its content is what the policy allows, to the letter. */
const styleElement = new Html(`<style>${styles}</style>`);

const documentOf = (language: Language, title: string, body: Html): string =>
  markup`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${styleElement}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html> `.text;

/** Notice in the place of an order. */
export type Notice = "ended" | "busy" | "failed" | "elsewhere";

/** A page that says why there is no order, and what to do. */
export function noticePage(language: Language, notice: Notice): string {
  const texts = textsIn[language];
  const title = {
    ended: texts.endedTitle,
    busy: texts.busyTitle,
    failed: texts.failedTitle,
    elsewhere: texts.failedTitle,
  }[notice];
  return documentOf(
    language,
    title,
    markup`<h1>${title}</h1>
      <p>${texts[notice]}</p>`,
  );
}

/** A mistake in the form. */
export interface FormError {
  /** The name of its field; null: of the form as a whole. */
  readonly field: string | null;
  /** The line that it is about. */
  readonly article: string | null;
  readonly message: string;
}

/** Everything that an order's page shows. */
interface OrderPage {
  readonly language: Language;
  /** The path of the link, without what follows it. */
  readonly path: string;
  readonly shopName: string;
  readonly timezone: string;
  readonly order: Header;
  readonly lines: readonly LineItem[];
  /** Number of lines before these. */
  readonly linesBefore: number;
  /** After which position these lines begin, as the link to the page says it; null: with the first. */
  readonly after: number | null;
  /** After which position the next lines begin; null: these are the last. */
  readonly next: number | null;
  /** The supplier's latest answer; null: none. */
  readonly latest: SupplierProposal | null;
  readonly expiresAtMs: number;
  /** The answer was sent just now. */
  readonly wasSent: boolean;
  /** Typed values that could not be taken, by the names of fields. */
  readonly typed: ReadonlyMap<string, string> | null;
  readonly errors: readonly FormError[];
}

/** The names of the form's fields: those of a line, and the day on which all articles come. */
export const fieldOf = {
  dayOfAll: "date",
  quantity: (lineItemId: string): string => `quantity.${lineItemId}`,
  date: (lineItemId: string): string => `date.${lineItemId}`,
  cannot: (lineItemId: string): string => `cannot.${lineItemId}`,
} as const;

/** Returns the name of a line's article. */
export const articleOf = (line: LineItem): string =>
  [line.supplierProductName ?? line.productName ?? line.supplierSku ?? line.sku ?? line.variantId, line.variantName]
    .filter((part) => part !== null)
    .join(" · ");

/** Values as the language writes them. */
class Written {
  readonly #language: Language;
  readonly #quantity: Intl.NumberFormat;
  readonly #day: Intl.DateTimeFormat;
  readonly #instant: Intl.DateTimeFormat;
  readonly #amounts = new Map<string, Intl.NumberFormat>();

  constructor(language: Language, timeZone: string) {
    this.#language = language;
    this.#quantity = new Intl.NumberFormat(language, { maximumFractionDigits: 3 });
    this.#day = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: "UTC" });
    this.#instant = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone });
  }

  readonly number = (value: number): string => this.#quantity.format(value);

  quantity(value: LineItem["quantityOrdered"]): string {
    return this.number(quantityToNumber(value));
  }

  day(date: string): string {
    return this.#day.format(Date.parse(`${date}T00:00:00Z`));
  }

  instant(ms: number): string {
    return this.#instant.format(ms);
  }

  amount(value: Money, currency: string): string {
    const format =
      this.#amounts.get(currency) ??
      new Intl.NumberFormat(this.#language, {
        style: "currency",
        currency,
        ...writtenDecimals(currency, moneyDecimalsMax),
      });
    this.#amounts.set(currency, format);
    return format.format(moneyToNumber(value));
  }
}

const row = (term: string, value: string | null, isFigure = false, isLong = false): Html | null =>
  value === null || value === ""
    ? null
    : markup`<div${isLong ? markup` class="long"` : null}>
        <dt>${term}</dt><dd${isFigure ? markup` class="figure"` : null}>${value}</dd>
      </div>`;

const rows = (entries: readonly (Html | null)[], areSums = false): Html => {
  const shown = entries.filter((entry) => entry !== null);
  return shown.length === 0 ? markup`` : markup`<dl${areSums ? markup` class="sums"` : null}>${shown}</dl>`;
};

const addressText = (address: Address | null): string | null =>
  address === null
    ? null
    : [
        address.companyName,
        address.contactName,
        address.address1,
        address.address2,
        [address.zip, address.city].filter((part) => part !== null).join(" "),
        address.province,
        address.country ?? address.countryCode,
        address.phone,
      ]
        .filter((part) => part !== null && part !== "")
        .join("\n");

/** An order with the form of the supplier's answer. */
export function orderPage(page: OrderPage): string {
  const { language, order, shopName } = page;
  const texts = textsIn[language];
  const written = new Written(language, page.timezone);
  const title = filled(texts.order, { number: order.poNumber });
  const orderDay = order.orderDate ?? (order.sentAtMs === null ? null : dateOf(dayIn(page.timezone, order.sentAtMs)));
  return documentOf(
    language,
    `${title} · ${shopName}`,
    markup`<header>
        <h1>${title}</h1>
        <p class="quiet">${filled(texts.from, { shop: shopName })}${
          order.supplierName === null
            ? null
            : markup`<br />${filled(texts.forSupplier, { supplier: order.supplierName })}`
        }</p>
      </header>
      ${errorList(page, texts)} ${outcomeHtml(page, texts, written)}
      <div class="card">
        ${rows([
          row(texts.grandTotal, written.amount(order.grandTotal, order.currencyCode), true),
          row(texts.orderDate, orderDay === null ? null : written.day(orderDay)),
          row(texts.expected, order.expectedDeliveryDate === null ? null : written.day(order.expectedDeliveryDate)),
          row(texts.deliverTo, addressText(order.shippingAddress) ?? order.locationName),
          row(texts.paymentTerms, order.paymentTerms),
          row(texts.incoterm, order.incoterm),
          row(texts.note, order.noteToSupplier, false, true),
        ])}
      </div>
      ${mayAnswer(order) ? answerForm(page, texts, written) : markup`${lineCards(page, texts, written)}`}
      ${totals(order, texts, written)}
      <p class="links">
              ${texts.download}: <a href="${page.path}/document.pdf">PDF</a> <a href="${page.path}/document.csv">CSV</a>
            </p>
      <p class="quiet">${filled(texts.until, { date: written.instant(page.expiresAtMs) })}</p>`,
  );
}

const idOf = (field: string): string => `f-${field}`;

function errorList({ errors }: OrderPage, texts: Texts): Html | null {
  if (errors.length === 0) return null;
  return markup`<div class="told bad" role="alert">
    <p>${texts.errors}</p>
    <ul class="errors">
      ${errors.map(({ field, article, message }) => {
        const text = article === null ? message : filled(texts.errorIn, { article, error: message });
        return markup`<li>${field === null ? text : markup`<a href="#${idOf(field)}">${text}</a>`}</li>`;
      })}
    </ul>
  </div>`;
}

/** Returns the outcome of the supplier's latest answer, or why none is taken. */
function outcomeHtml({ order, latest, wasSent, shopName, errors }: OrderPage, texts: Texts, written: Written): Html {
  const parts: Html[] = [];
  if (wasSent && errors.length === 0)
    parts.push(markup`<p class="told good" role="status">${filled(texts.sent, { shop: shopName })}</p>`);
  else if (latest !== null && latest.state !== "replaced") {
    const date = written.instant(latest.createdAtMs);
    parts.push(markup`<p class="told">${filled(texts[latest.state], { date, shop: shopName })}</p>`);
  }
  if (!mayAnswer(order)) {
    const why = order.status === "Draft" ? texts.status.draft : isHeld(order) ? texts.status.held : texts.status.over;
    parts.push(markup`<p class="told">${why}</p>`);
  }
  return markup`${parts}`;
}

function answerForm(page: OrderPage, texts: Texts, written: Written): Html {
  const { path, language, after, latest, typed, shopName } = page;
  const open = latest?.state === "open" ? latest : null;
  const textField = (name: "reference" | "trackingNumber", label: string, kept: string | null): Html =>
    markup`<div>
      <label for="${idOf(name)}">${label}</label>
      <input
        type="text"
        id="${idOf(name)}"
        name="${name}"
        maxlength="${shortTextMax}"
        autocomplete="off"
        value="${typed?.get(name) ?? kept ?? ""}"
        ${invalid(page, name)}
      />
      ${errorOf(page, name)}
    </div>`;
  return markup`<form method="post" action="${path}/proposal">
    <h2>${texts.answer}</h2>
    <p class="quiet">${filled(texts.answerHelp, { shop: shopName })}</p>
    <input type="hidden" name="language" value="${language}" />
    ${after === null ? null : markup`<input type="hidden" name="after" value="${after}" />`}
    ${page.lines.length > 1 ? dayOfAllCard(page, texts) : null} ${lineCards(page, texts, written)}
    <div class="card">
      <div class="fields">
        ${textField("reference", texts.reference, open?.reference ?? page.order.supplierReference)}
        ${textField("trackingNumber", texts.tracking, open?.trackingNumber ?? null)}
      </div>
      <label for="${idOf("message")}">${texts.message}</label>
      <textarea id="${idOf("message")}" name="message" rows="3" maxlength="${noteMax}" ${invalid(page, "message")}>${typed?.get("message") ?? open?.message ?? ""}</textarea>
      ${errorOf(page, "message")}
    </div>
    <p><button type="submit">${texts.send}</button></p>
  </form>`;
}

function dayOfAllCard(page: OrderPage, texts: Texts): Html {
  const { dayOfAll } = fieldOf;
  return markup`<div class="card">
    <label for="${idOf(dayOfAll)}">${texts.dayOfAll}</label>
    <input
      type="date"
      id="${idOf(dayOfAll)}"
      name="${dayOfAll}"
      value="${page.typed?.get(dayOfAll) ?? ""}"
      ${invalid(page, dayOfAll)}
    />
    ${errorOf(page, dayOfAll)}
    <p class="quiet">${texts.dayOfAllHelp}</p>
  </div>`;
}

const errorId = (field: string): string => `e-${field}`;

const invalid = ({ errors }: OrderPage, name: string): Html | null =>
  errors.some(({ field }) => field === name) ? markup`aria-invalid="true" aria-describedby="${errorId(name)}"` : null;

const errorOf = ({ errors }: OrderPage, name: string): Html | null => {
  const error = errors.find(({ field }) => field === name);
  return error === undefined ? null : markup`<p class="error" id="${errorId(name)}">${error.message}</p>`;
};

function lineCards(page: OrderPage, texts: Texts, written: Written): Html {
  const { lines, linesBefore, next, after, order, path } = page;
  const isPaged = next !== null || after !== null;
  const shown = {
    first: String(linesBefore + 1),
    last: String(linesBefore + lines.length),
    count: String(order.itemCount),
  };
  return markup`<h2>${isPaged ? filled(texts.linesShown, shown) : texts.lines}</h2>
    ${isPaged && mayAnswer(order) ? markup`<p class="quiet">${texts.pageFirst}</p>` : null}
    ${lines.map((line) => lineCard(page, line, texts, written))}
    ${
      isPaged
        ? markup`<p class="links">
            ${after === null ? null : markup`<a href="${path}">${texts.firstLines}</a>`}
            ${next === null ? null : markup`<a href="${path}?after=${next}">${texts.nextLines}</a>`}
          </p>`
        : null
    }`;
}

function lineCard(page: OrderPage, line: LineItem, texts: Texts, written: Written): Html {
  const { order } = page;
  const facts = rows([
    row(texts.supplierSku, line.supplierSku),
    row(texts.sku, line.sku),
    row(texts.barcode, line.supplierBarcode ?? line.barcode),
    row(
      texts.ordered,
      written.quantity(line.quantityOrdered) +
        packsText(
          quantityToNumber(line.quantityOrdered),
          line.packSize === null ? null : quantityToNumber(line.packSize),
          written.number,
        ),
      true,
    ),
    line.quantityCancelled > 0 ? row(texts.cancelled, written.quantity(line.quantityCancelled), true) : null,
    line.quantityConfirmed > 0 ? row(texts.confirmed, written.quantity(line.quantityConfirmed), true) : null,
    line.expectedDeliveryDate === null ? null : row(texts.expected, written.day(line.expectedDeliveryDate)),
    row(texts.unitCost, written.amount(line.unitCost, line.unitCostCurrencyCode), true),
    row(texts.total, written.amount(lineTotal(line), line.unitCostCurrencyCode), true),
  ]);
  const article = articleOf(line);
  if (!mayAnswer(order) || isWhollyCancelled(line))
    return markup`<section class="card"><strong>${article}</strong>${facts}</section>`;
  return markup`<fieldset class="card">
    <legend>${article}</legend>
    ${facts}
    <div class="fields">${lineFields(page, line, texts, written)}</div>
  </fieldset>`;
}

/**
 * The fields of a line, with the typed values, else those of the open answer, else the usual answer: all that was
 * ordered.
 */
function lineFields(page: OrderPage, line: LineItem, texts: Texts, written: Written): Html {
  const { order, latest, typed } = page;
  const { poLineItemId: id } = line;
  const said = latest?.state === "open" ? latest.lines.find((each) => each.lineItemId === id) : undefined;
  const usual =
    line.quantityConfirmed > 0
      ? line.quantityConfirmed
      : subtractQuantity(line.quantityOrdered, line.quantityCancelled);
  const [quantity, date, cannot] = [fieldOf.quantity(id), fieldOf.date(id), fieldOf.cannot(id)];
  const quantityValue = typed?.get(quantity) ?? written.quantity(said?.quantityConfirmed ?? usual);
  const dateValue = typed?.get(date) ?? said?.expectedDeliveryDate ?? line.expectedDeliveryDate ?? "";
  const isTicked = typed === null ? said?.cannotDeliver === true : typed.has(cannot);
  const dateField = markup`<div>
    <label for="${idOf(date)}">${texts.date}</label>
    <input type="date" id="${idOf(date)}" name="${date}" value="${dateValue}" ${invalid(page, date)} />
    ${errorOf(page, date)}
  </div>`;
  const hidden = markup`<input type="hidden" name="line" value="${id}" />`;
  if (!mayConfirm(order)) return markup`${hidden}${dateField}`;
  return markup`${hidden}
    <div>
      <label for="${idOf(quantity)}">${texts.quantity}</label>
      <input
        type="text"
        inputmode="decimal"
        autocomplete="off"
        id="${idOf(quantity)}"
        name="${quantity}"
        value="${isTicked && typed === null ? "" : quantityValue}"
        ${invalid(page, quantity)}
      />
      ${errorOf(page, quantity)}
    </div>
    ${dateField}
    <label class="tick"
      ><input type="checkbox" name="${cannot}" value="1" ${isTicked ? markup`checked` : null} />${texts.cannot}</label
    >`;
}

function totals(order: Header, texts: Texts, written: Written): Html {
  const amount = (value: Money | null): string | null =>
    value === null || value === 0 ? null : written.amount(value, order.currencyCode);
  return markup`<div class="card">
    ${rows(
      [
        row(texts.goods, written.amount(order.totalValue, order.currencyCode), true),
        row(texts.shipping, amount(order.shippingCost), true),
        row(texts.discount, amount(order.discountAmount), true),
        row(texts.tax, amount(order.taxAmount), true),
        row(texts.grandTotal, written.amount(order.grandTotal, order.currencyCode), true),
      ],
      true,
    )}
  </div>`;
}
