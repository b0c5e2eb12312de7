/**
 * Mails about approval requests to the people who may decide them (C80): who gets one, how often, and what it says. It
 * is in the person's language and names things as the console does (console-words.ts). Pure.
 *
 * Owns: bounds and texts. Does not own: who may decide (approvals.ts), the rows (shop/access/approval-mails.ts),
 * sending (mail/).
 */
import { dateOf, dayIn } from "../../base/time/calendar.ts";
import { filledLine } from "../../base/text/filled.ts";
import { cutAt, onOneLine } from "../../base/text/plain-text.ts";
import { writtenDecimals } from "../money/minor-units.ts";
import { type Money, moneyToNumber } from "../money/money.ts";
import { dayText } from "../supplier/day-text.ts";
import type { Language } from "../../base/text/language.ts";
import { mailAddressFrom, mailSubjectMax } from "../supplier/mail.ts";
import type { Actor } from "./actor.ts";
import { type ApprovalCause, type ApprovalSettings, type Asker, undecidable } from "./approvals.ts";
import { consoleWords } from "./console-words.ts";
import type { Role } from "./role.ts";

/** Time between two mails to a person. What is asked meanwhile is told in the next one. */
export const approvalMailEveryMs = 900_000;

/** People who are mailed about a request: those who were signed in last. */
export const approversMailedMax = 20;

/** Requests that a mail describes; it counts the others. */
export const mailedAsksMax = 20;

/** A person of the shop as far as mails to them depend on it. */
interface Approver {
  readonly personId: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: Role;
  readonly keyId: string | null;
  /** Chosen by the person; null: none. */
  readonly language: Language | null;
  readonly lastSeenAtMs: number | null;
}

/** Who is mailed. */
interface Mailed extends Pick<Approver, "personId" | "name" | "language"> {
  readonly address: string;
}

/** The people who are mailed about a request, each address once. */
export function mailedApprovers(
  people: readonly Approver[],
  asker: Asker,
  causes: readonly ApprovalCause[],
  settings: ApprovalSettings,
): readonly Mailed[] {
  const found = new Map<string, Mailed>();
  const seenLast = people.toSorted((a, b) => (b.lastSeenAtMs ?? 0) - (a.lastSeenAtMs ?? 0));
  for (const person of seenLast) {
    const { personId, name, email, language } = person;
    const address = email === null ? null : mailAddressFrom(email);
    if (address === null || undecidable(person, asker, causes, settings) !== null) continue;
    const same = address.toLowerCase();
    if (!found.has(same)) found.set(same, { personId, name, address, language });
  }
  return [...found.values()].slice(0, approversMailedMax);
}

/** A request as a mail tells of it. */
export interface MailedAsk {
  readonly approvalRequestId: string;
  readonly purchaseOrderId: string | null;
  readonly title: string;
  readonly facts: readonly string[];
}

/** An approval request, as far as its mails tell of it. */
export interface AskFacts {
  readonly approvalRequestId: string;
  readonly operation: string;
  readonly purchaseOrderId: string | null;
  readonly summary: string;
  /** The order that it is about, as the write would leave it. Null: it is about none, or about several. */
  readonly order: {
    readonly poNumber: string;
    readonly supplierName: string | null;
    readonly grandTotal: Money;
    readonly currencyCode: string;
    /** The status that it would get; null: it keeps its own. */
    readonly movesTo: string | null;
  } | null;
  readonly causes: readonly ApprovalCause[];
  readonly requestedBy: Actor;
  readonly expiresAtMs: number;
}

interface Surroundings {
  readonly language: Language;
  readonly shopName: string;
  readonly timezone: string;
  /** The shop's, of its limits. */
  readonly currencyCode: string;
}

interface Texts {
  readonly subject: string;
  readonly subjectOfMany: string;
  readonly hello: string;
  readonly one: string;
  readonly many: string;
  readonly more: string;
  readonly link: string;
  readonly noLink: string;
  readonly end: string;
  readonly moves: string;
  readonly deed: string;
  readonly supplier: string;
  readonly value: string;
  readonly askedBy: string;
  readonly askedFor: string;
  readonly until: string;
  readonly scope: string;
  readonly rule: string;
  readonly limits: Readonly<Record<Extract<ApprovalCause, { readonly cause: "limit" }>["limit"], string>>;
}

const texts: Readonly<Record<Language, Texts>> = {
  en: {
    subject: "Approval needed: {what} ({shop})",
    subjectOfMany: "{count} requests wait for your approval ({shop})",
    hello: "Hello {name},",
    one: "this waits for approval at {shop}:",
    many: "{count} requests wait for approval at {shop}:",
    more: "And {count} more.",
    link: "Decide after signing in: {link}",
    noLink: "Decide in the console, at {place}.",
    end: "Nothing is changed until somebody approves it.",
    moves: "Move {number} to {status}",
    deed: "{deed}: {what}",
    supplier: "Supplier: {name}",
    value: "Value: {amount}",
    askedBy: "Asked by: {name}",
    askedFor: "Asked by: {name}, for {person}",
    until: "Waits until: {day}",
    scope: "Its key may only propose this.",
    rule: "Rule “{name}”.",
    limits: {
      orderValueMax: "Its key may spend {amount} on an order.",
      dayValueMax: "Its key may spend {amount} a day.",
      monthValueMax: "Its key may spend {amount} a month.",
      unitCostRisePercentMax: "Its key may raise a unit cost by {percent} %.",
      supplierIds: "Its key may not order from this supplier.",
      locationIds: "Its key may not order for this location.",
    },
  },
  de: {
    subject: "Freigabe nötig: {what} ({shop})",
    subjectOfMany: "{count} Anfragen warten auf Ihre Freigabe ({shop})",
    hello: "Guten Tag {name},",
    one: "das wartet bei {shop} auf Freigabe:",
    many: "{count} Anfragen warten bei {shop} auf Freigabe:",
    more: "Und {count} weitere.",
    link: "Entscheiden nach der Anmeldung: {link}",
    noLink: "Entscheiden Sie in der Konsole, unter {place}.",
    end: "Nichts wird geändert, bevor es jemand freigibt.",
    moves: "{number} auf „{status}“ setzen",
    deed: "{deed}: {what}",
    supplier: "Lieferant: {name}",
    value: "Wert: {amount}",
    askedBy: "Gefragt hat: {name}",
    askedFor: "Gefragt hat: {name}, für {person}",
    until: "Wartet bis: {day}",
    scope: "Der Schlüssel darf dies nur vorschlagen.",
    rule: "Regel „{name}“.",
    limits: {
      orderValueMax: "Der Schlüssel darf je Bestellung {amount} ausgeben.",
      dayValueMax: "Der Schlüssel darf am Tag {amount} ausgeben.",
      monthValueMax: "Der Schlüssel darf im Monat {amount} ausgeben.",
      unitCostRisePercentMax: "Der Schlüssel darf einen EK-Preis um {percent} % erhöhen.",
      supplierIds: "Der Schlüssel darf bei diesem Lieferanten nicht bestellen.",
      locationIds: "Der Schlüssel darf für diesen Standort nicht bestellen.",
    },
  },
  fr: {
    subject: "Approbation requise : {what} ({shop})",
    subjectOfMany: "{count} demandes attendent votre approbation ({shop})",
    hello: "Bonjour {name},",
    one: "ceci attend une approbation chez {shop} :",
    many: "{count} demandes attendent une approbation chez {shop} :",
    more: "Et {count} autres.",
    link: "Décider après connexion : {link}",
    noLink: "Décidez dans la console, sous {place}.",
    end: "Rien ne change avant une approbation.",
    moves: "Passer {number} à {status}",
    deed: "{deed} : {what}",
    supplier: "Fournisseur : {name}",
    value: "Montant : {amount}",
    askedBy: "Demandé par : {name}",
    askedFor: "Demandé par : {name}, pour {person}",
    until: "Attend jusqu'au : {day}",
    scope: "La clé ne peut que le proposer.",
    rule: "Règle « {name} ».",
    limits: {
      orderValueMax: "La clé peut dépenser {amount} par commande.",
      dayValueMax: "La clé peut dépenser {amount} par jour.",
      monthValueMax: "La clé peut dépenser {amount} par mois.",
      unitCostRisePercentMax: "La clé peut augmenter un coût unitaire de {percent} %.",
      supplierIds: "La clé ne peut pas commander chez ce fournisseur.",
      locationIds: "La clé ne peut pas commander pour cet emplacement.",
    },
  },
  es: {
    subject: "Se necesita aprobación: {what} ({shop})",
    subjectOfMany: "{count} solicitudes esperan su aprobación ({shop})",
    hello: "Hola, {name}:",
    one: "esto espera aprobación en {shop}:",
    many: "{count} solicitudes esperan aprobación en {shop}:",
    more: "Y {count} más.",
    link: "Decidir tras iniciar sesión: {link}",
    noLink: "Decida en la consola, en {place}.",
    end: "Nada cambia hasta que alguien lo apruebe.",
    moves: "Pasar {number} a {status}",
    deed: "{deed}: {what}",
    supplier: "Proveedor: {name}",
    value: "Importe: {amount}",
    askedBy: "Solicitado por: {name}",
    askedFor: "Solicitado por: {name}, para {person}",
    until: "Espera hasta: {day}",
    scope: "La clave solo puede proponerlo.",
    rule: "Regla «{name}».",
    limits: {
      orderValueMax: "La clave puede gastar {amount} por pedido.",
      dayValueMax: "La clave puede gastar {amount} al día.",
      monthValueMax: "La clave puede gastar {amount} al mes.",
      unitCostRisePercentMax: "La clave puede subir un costo unitario un {percent} %.",
      supplierIds: "La clave no puede pedir a este proveedor.",
      locationIds: "La clave no puede pedir para esta ubicación.",
    },
  },
  nl: {
    subject: "Goedkeuring nodig: {what} ({shop})",
    subjectOfMany: "{count} aanvragen wachten op je goedkeuring ({shop})",
    hello: "Hallo {name},",
    one: "dit wacht bij {shop} op goedkeuring:",
    many: "{count} aanvragen wachten bij {shop} op goedkeuring:",
    more: "En nog {count}.",
    link: "Beslis na het inloggen: {link}",
    noLink: "Beslis in de console, bij {place}.",
    end: "Er verandert niets tot iemand het goedkeurt.",
    moves: "{number} naar status {status}",
    deed: "{deed}: {what}",
    supplier: "Leverancier: {name}",
    value: "Waarde: {amount}",
    askedBy: "Aangevraagd door: {name}",
    askedFor: "Aangevraagd door: {name}, namens {person}",
    until: "Wacht tot: {day}",
    scope: "De sleutel mag dit alleen voorstellen.",
    rule: "Regel “{name}”.",
    limits: {
      orderValueMax: "De sleutel mag per bestelling {amount} uitgeven.",
      dayValueMax: "De sleutel mag per dag {amount} uitgeven.",
      monthValueMax: "De sleutel mag per maand {amount} uitgeven.",
      unitCostRisePercentMax: "De sleutel mag een inkoopprijs met {percent}% verhogen.",
      supplierIds: "De sleutel mag niet bij deze leverancier bestellen.",
      locationIds: "De sleutel mag niet voor deze locatie bestellen.",
    },
  },
};

const amountText = (amount: number, currency: string, language: Language): string =>
  new Intl.NumberFormat(language, { style: "currency", currency, ...writtenDecimals(currency) }).format(amount);

function causeText(cause: ApprovalCause, { language, currencyCode }: Surroundings): string {
  const words = texts[language];
  if (cause.cause === "scope") return words.scope;
  if (cause.cause === "rule") return filledLine(words.rule, { name: cause.name });
  const { limit, allowed } = cause;
  const amount = typeof allowed === "number" ? amountText(allowed, currencyCode, language) : "";
  return filledLine(words.limits[limit], { amount, percent: String(allowed) });
}

/** Title of a request: in English the service's summary, else what the console calls it. */
function titleOf({ operation, purchaseOrderId, summary, order }: AskFacts, language: Language): string {
  const { statuses, requests } = consoleWords[language];
  const words = texts[language];
  if (order !== null && order.movesTo !== null)
    return filledLine(words.moves, { number: order.poNumber, status: statuses[order.movesTo] ?? order.movesTo });
  const deed = requests[operation];
  if (deed === undefined) return onOneLine(summary);
  const ofRecord = summary.includes(": ") ? summary.slice(summary.indexOf(": ") + 2) : "";
  const ofOrder = purchaseOrderId === null ? "" : (order?.poNumber ?? "");
  const what = order === null ? ofRecord : ofOrder;
  return what === "" ? deed : filledLine(words.deed, { deed, what });
}

/** The request in words. @param inNameOf  the person whose agent has asked; null: nobody's has. */
export function askInWords(request: AskFacts, inNameOf: string | null, surroundings: Surroundings): MailedAsk {
  const { approvalRequestId, purchaseOrderId, order, causes, requestedBy, expiresAtMs } = request;
  const { language, timezone } = surroundings;
  const words = texts[language];
  const name = requestedBy.name ?? requestedBy.type;
  return {
    approvalRequestId,
    purchaseOrderId,
    title: titleOf(request, language),
    facts: [
      ...(order === null || order.supplierName === null
        ? []
        : [filledLine(words.supplier, { name: order.supplierName })]),
      ...(order === null
        ? []
        : [
            filledLine(words.value, {
              amount: amountText(moneyToNumber(order.grandTotal), order.currencyCode, language),
            }),
          ]),
      inNameOf === null ? filledLine(words.askedBy, { name }) : filledLine(words.askedFor, { name, person: inNameOf }),
      ...new Set(causes.map((cause) => causeText(cause, surroundings))),
      filledLine(words.until, { day: dayText(dateOf(dayIn(timezone, expiresAtMs)), language) }),
    ],
  };
}

/**
 * Subject and text of a mail about requests, at least one.
 *
 * @param publicUrl where people reach the console; null: that is not known, and there is no link.
 */
export function approvalMailText(
  name: string,
  asks: readonly MailedAsk[],
  { language, shopName }: Surroundings,
  publicUrl: string | null,
): { readonly subject: string; readonly text: string } {
  const words = texts[language];
  const values = { name, shop: shopName, count: asks.length, what: asks[0]?.title ?? "" };
  const shown = asks.slice(0, mailedAsksMax);
  const linkTo = (path: string): string =>
    publicUrl === null
      ? filledLine(words.noLink, { place: consoleWords[language].approvals })
      : filledLine(words.link, { link: `${publicUrl}/console/approvals${path}` });
  const rest = asks.length - shown.length;
  const subject = filledLine(asks.length === 1 ? words.subject : words.subjectOfMany, values);
  const parts = [
    filledLine(words.hello, values),
    filledLine(asks.length === 1 ? words.one : words.many, values),
    ...shown.map(({ approvalRequestId, title, facts }) =>
      [title, ...facts, linkTo(`/${approvalRequestId}`)].join("\n"),
    ),
    ...(rest === 0 ? [] : [`${filledLine(words.more, { count: rest })}\n${linkTo("")}`]),
    words.end,
  ];
  return {
    subject: cutAt(subject, mailSubjectMax),
    text: `${parts.join("\n\n")}\n`,
  };
}
