/**
 * The words of a document in each language, and how it writes numbers and days. Written by hand and not taken from the platform, so that
 * the same document has the same bytes with every version of Node.
 */
import type { DocumentColumn, DocumentLanguage } from "../core/supplier/document-settings.ts";

interface Texts {
  readonly title: string;
  readonly draft: string;
  readonly cancelled: string;
  readonly buyer: string;
  readonly supplier: string;
  readonly deliverTo: string;
  readonly billTo: string;
  readonly orderDate: string;
  readonly expectedDeliveryDate: string;
  readonly supplierReference: string;
  readonly paymentTerms: string;
  readonly incoterm: string;
  readonly currency: string;
  readonly columns: Readonly<Record<DocumentColumn | "description" | "quantity", string>>;
  readonly noLines: string;
  readonly yourName: string;
  readonly cancelledQuantity: string;
  readonly subtotal: string;
  readonly discount: string;
  readonly shipping: string;
  readonly tax: string;
  readonly grandTotal: string;
  readonly note: string;
  /** `{page}` and `{pages}` are replaced. */
  readonly page: string;
  readonly version: string;
  readonly telephone: string;
  /** `{lines}` is replaced. */
  readonly unpriced: string;
  readonly months: readonly string[];
  /** `{day}`, `{month}` and `{year}` are replaced. */
  readonly date: string;
  readonly decimalMark: string;
  /** Between groups of three digits; a no-break space where it is a space. */
  readonly groupMark: string;
}

export const texts: Readonly<Record<DocumentLanguage, Texts>> = {
  en: {
    title: "Purchase order",
    draft: "Draft – not an order yet",
    cancelled: "Cancelled",
    buyer: "Buyer",
    supplier: "Supplier",
    deliverTo: "Deliver to",
    billTo: "Bill to",
    orderDate: "Order date",
    expectedDeliveryDate: "Delivery expected",
    supplierReference: "Your reference",
    paymentTerms: "Payment terms",
    incoterm: "Delivery terms",
    currency: "Currency",
    columns: {
      position: "#",
      supplierSku: "Your item no.",
      sku: "Our item no.",
      barcode: "Barcode",
      description: "Description",
      expectedDeliveryDate: "Expected",
      quantity: "Quantity",
      packSize: "Pack of",
      unitCost: "Unit price",
      lineTotal: "Amount",
    },
    noLines: "This order has no lines yet.",
    yourName: "Your name for it:",
    cancelledQuantity: "Of this cancelled:",
    subtotal: "Subtotal",
    discount: "Discount",
    shipping: "Shipping",
    tax: "Tax",
    grandTotal: "Total",
    note: "Note",
    page: "Page {page} of {pages}",
    version: "version",
    telephone: "Tel.",
    unpriced: "Not included in the total, because no exchange rate is agreed: line {lines}",
    months: [
      "January",
      "February",
      "March",
      "April",
      "May",
      "June",
      "July",
      "August",
      "September",
      "October",
      "November",
      "December",
    ],
    date: "{day} {month} {year}",
    decimalMark: ".",
    groupMark: ",",
  },
  de: {
    title: "Bestellung",
    draft: "Entwurf – noch keine Bestellung",
    cancelled: "Storniert",
    buyer: "Besteller",
    supplier: "Lieferant",
    deliverTo: "Lieferadresse",
    billTo: "Rechnungsadresse",
    orderDate: "Bestelldatum",
    expectedDeliveryDate: "Liefertermin",
    supplierReference: "Ihr Zeichen",
    paymentTerms: "Zahlungsbedingungen",
    incoterm: "Lieferbedingungen",
    currency: "Währung",
    columns: {
      position: "Pos.",
      supplierSku: "Ihre Art.-Nr.",
      sku: "Unsere Art.-Nr.",
      barcode: "Barcode",
      description: "Bezeichnung",
      expectedDeliveryDate: "Termin",
      quantity: "Menge",
      packSize: "Pack zu",
      unitCost: "Einzelpreis",
      lineTotal: "Betrag",
    },
    noLines: "Diese Bestellung hat noch keine Positionen.",
    yourName: "Ihre Bezeichnung:",
    cancelledQuantity: "Davon storniert:",
    subtotal: "Zwischensumme",
    discount: "Rabatt",
    shipping: "Versand",
    tax: "Steuer",
    grandTotal: "Gesamtbetrag",
    note: "Hinweis",
    page: "Seite {page} von {pages}",
    version: "Version",
    telephone: "Tel.",
    unpriced: "Nicht im Gesamtbetrag enthalten, weil kein Wechselkurs vereinbart ist: Position {lines}",
    months: [
      "Januar",
      "Februar",
      "März",
      "April",
      "Mai",
      "Juni",
      "Juli",
      "August",
      "September",
      "Oktober",
      "November",
      "Dezember",
    ],
    date: "{day}. {month} {year}",
    decimalMark: ",",
    groupMark: ".",
  },
  fr: {
    title: "Bon de commande",
    draft: "Brouillon – pas encore une commande",
    cancelled: "Annulé",
    buyer: "Acheteur",
    supplier: "Fournisseur",
    deliverTo: "Adresse de livraison",
    billTo: "Adresse de facturation",
    orderDate: "Date de commande",
    expectedDeliveryDate: "Livraison prévue",
    supplierReference: "Votre référence",
    paymentTerms: "Conditions de paiement",
    incoterm: "Conditions de livraison",
    currency: "Devise",
    columns: {
      position: "N°",
      supplierSku: "Votre réf.",
      sku: "Notre réf.",
      barcode: "Code-barres",
      description: "Désignation",
      expectedDeliveryDate: "Prévu le",
      quantity: "Quantité",
      packSize: "Lot de",
      unitCost: "Prix unitaire",
      lineTotal: "Montant",
    },
    noLines: "Cette commande n’a pas encore de lignes.",
    yourName: "Votre désignation :",
    cancelledQuantity: "Dont annulé :",
    subtotal: "Sous-total",
    discount: "Remise",
    shipping: "Livraison",
    tax: "Taxes",
    grandTotal: "Total",
    note: "Remarque",
    page: "Page {page} sur {pages}",
    version: "version",
    telephone: "Tél.",
    unpriced: "Non compris dans le total, faute de taux de change convenu : ligne {lines}",
    months: [
      "janvier",
      "février",
      "mars",
      "avril",
      "mai",
      "juin",
      "juillet",
      "août",
      "septembre",
      "octobre",
      "novembre",
      "décembre",
    ],
    date: "{day} {month} {year}",
    decimalMark: ",",
    groupMark: "\u00a0",
  },
  es: {
    title: "Orden de compra",
    draft: "Borrador – aún no es un pedido",
    cancelled: "Cancelado",
    buyer: "Comprador",
    supplier: "Proveedor",
    deliverTo: "Dirección de entrega",
    billTo: "Dirección de facturación",
    orderDate: "Fecha del pedido",
    expectedDeliveryDate: "Entrega prevista",
    supplierReference: "Su referencia",
    paymentTerms: "Condiciones de pago",
    incoterm: "Condiciones de entrega",
    currency: "Moneda",
    columns: {
      position: "N.º",
      supplierSku: "Su ref.",
      sku: "Nuestra ref.",
      barcode: "Código de barras",
      description: "Descripción",
      expectedDeliveryDate: "Previsto",
      quantity: "Cantidad",
      packSize: "Paquete de",
      unitCost: "Precio unitario",
      lineTotal: "Importe",
    },
    noLines: "Este pedido aún no tiene líneas.",
    yourName: "Su denominación:",
    cancelledQuantity: "De ello, cancelado:",
    subtotal: "Subtotal",
    discount: "Descuento",
    shipping: "Envío",
    tax: "Impuestos",
    grandTotal: "Total",
    note: "Nota",
    page: "Página {page} de {pages}",
    version: "versión",
    telephone: "Tel.",
    unpriced: "No incluido en el total, por falta de tipo de cambio acordado: línea {lines}",
    months: [
      "enero",
      "febrero",
      "marzo",
      "abril",
      "mayo",
      "junio",
      "julio",
      "agosto",
      "septiembre",
      "octubre",
      "noviembre",
      "diciembre",
    ],
    date: "{day} de {month} de {year}",
    decimalMark: ",",
    groupMark: ".",
  },
};

/** A number with so many decimals at least; further ones as far as it has them. */
export function numberText(value: number, language: DocumentLanguage, decimalsMin = 0): string {
  const { decimalMark, groupMark } = texts[language];
  const [whole = "", fraction = ""] = Math.abs(value).toFixed(4).replace(/0+$/, "").split(".");
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, groupMark);
  const decimals = fraction.padEnd(decimalsMin, "0");
  return `${value < 0 ? "−" : ""}${grouped}${decimals === "" ? "" : decimalMark + decimals}`;
}

/** A value with its name, as `Barcode: 871`. French has a blank before the colon. */
export const named = (label: string, value: string, language: DocumentLanguage): string =>
  `${label}${language === "fr" ? "\u00a0" : ""}: ${value}`;

/** A day, `YYYY-MM-DD`, with the name of its month: no country reads it another way round. */
export function dayText(day: string, language: DocumentLanguage): string {
  const [year = "", month = "", date = ""] = day.split("-");
  const { date: pattern, months } = texts[language];
  return pattern
    .replace("{day}", String(Number(date)))
    .replace("{month}", months[Number(month) - 1] ?? month)
    .replace("{year}", year);
}
