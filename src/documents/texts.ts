/**
 * The words of a document in each language, and how it writes numbers. Written by hand and not taken from the platform,
 * so that the same document has the same bytes with every version of Node.
 */
import type { Language } from "../base/text/language.ts";
import type { DocumentColumn } from "../core/supplier/document-settings.ts";

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
  readonly columns: Readonly<Record<Exclude<DocumentColumn, "packSize"> | "description" | "quantity", string>>;
  readonly noLines: string;
  /** `{ordered}` and `{cancelled}` are replaced. */
  readonly cancelledQuantity: string;
  readonly subtotal: string;
  readonly discount: string;
  readonly shipping: string;
  readonly tax: string;
  /** Label of goods that are no longer owed since they did not come. */
  readonly notDelivered: string;
  readonly rounding: string;
  readonly grandTotal: string;
  readonly note: string;
  /** `{page}` and `{pages}` are replaced. */
  readonly page: string;
  readonly version: string;
  /** `{version}`, `{replaced}` and `{day}` are replaced. */
  readonly replaces: string;
  readonly telephone: string;
  /** `{lines}` is replaced. */
  readonly unpriced: string;
  readonly decimalMark: string;
  /** Between groups of three digits; a no-break space where it is a space. */
  readonly groupMark: string;
}

export const texts: Readonly<Record<Language, Texts>> = {
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
      unitCost: "Unit price",
      lineTotal: "Amount",
    },
    noLines: "This order has no lines yet.",
    cancelledQuantity: "Ordered {ordered}, of which {cancelled} cancelled",
    subtotal: "Subtotal",
    discount: "Discount",
    shipping: "Shipping",
    tax: "Tax",
    notDelivered: "Not delivered",
    rounding: "Rounding",
    grandTotal: "Total",
    note: "Note",
    page: "Page {page} of {pages}",
    version: "version",
    replaces: "Version {version} replaces version {replaced} of {day}",
    telephone: "Tel.",
    unpriced: "Not included in the total, because no exchange rate is agreed: line {lines}",
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
      unitCost: "Einzelpreis",
      lineTotal: "Betrag",
    },
    noLines: "Diese Bestellung hat noch keine Positionen.",
    cancelledQuantity: "Bestellt {ordered}, davon {cancelled} storniert",
    subtotal: "Zwischensumme",
    discount: "Rabatt",
    shipping: "Versand",
    tax: "Steuer",
    notDelivered: "Nicht geliefert",
    rounding: "Rundung",
    grandTotal: "Gesamtbetrag",
    note: "Hinweis",
    page: "Seite {page} von {pages}",
    version: "Version",
    replaces: "Version {version} ersetzt Version {replaced} vom {day}",
    telephone: "Tel.",
    unpriced: "Nicht im Gesamtbetrag enthalten, weil kein Wechselkurs vereinbart ist: Position {lines}",
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
      unitCost: "Prix unitaire",
      lineTotal: "Montant",
    },
    noLines: "Cette commande n’a pas encore de lignes.",
    cancelledQuantity: "Commandé : {ordered}, dont {cancelled} annulé",
    subtotal: "Sous-total",
    discount: "Remise",
    shipping: "Livraison",
    tax: "Taxes",
    notDelivered: "Non livré",
    rounding: "Arrondi",
    grandTotal: "Total",
    note: "Remarque",
    page: "Page {page} sur {pages}",
    version: "version",
    replaces: "La version {version} remplace la version {replaced} du {day}",
    telephone: "Tél.",
    unpriced: "Non compris dans le total, faute de taux de change convenu : ligne {lines}",
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
      unitCost: "Precio unitario",
      lineTotal: "Importe",
    },
    noLines: "Este pedido aún no tiene líneas.",
    cancelledQuantity: "Pedido: {ordered}, de ello {cancelled} cancelado",
    subtotal: "Subtotal",
    discount: "Descuento",
    shipping: "Envío",
    tax: "Impuestos",
    notDelivered: "No entregado",
    rounding: "Redondeo",
    grandTotal: "Total",
    note: "Nota",
    page: "Página {page} de {pages}",
    version: "versión",
    replaces: "La versión {version} sustituye a la versión {replaced} del {day}",
    telephone: "Tel.",
    unpriced: "No incluido en el total, por falta de tipo de cambio acordado: línea {lines}",
    decimalMark: ",",
    groupMark: ".",
  },
  nl: {
    title: "Bestelling",
    draft: "Concept – nog geen bestelling",
    cancelled: "Geannuleerd",
    buyer: "Koper",
    supplier: "Leverancier",
    deliverTo: "Afleveradres",
    billTo: "Factuuradres",
    orderDate: "Besteldatum",
    expectedDeliveryDate: "Verwachte levering",
    supplierReference: "Uw referentie",
    paymentTerms: "Betalingsvoorwaarden",
    incoterm: "Leveringsvoorwaarden",
    currency: "Valuta",
    columns: {
      position: "Nr.",
      supplierSku: "Uw art.nr.",
      sku: "Ons art.nr.",
      barcode: "Barcode",
      description: "Omschrijving",
      expectedDeliveryDate: "Verwacht",
      quantity: "Aantal",
      unitCost: "Stukprijs",
      lineTotal: "Bedrag",
    },
    noLines: "Deze bestelling heeft nog geen regels.",
    cancelledQuantity: "Besteld {ordered}, waarvan {cancelled} geannuleerd",
    subtotal: "Subtotaal",
    discount: "Korting",
    shipping: "Verzendkosten",
    tax: "Btw",
    notDelivered: "Niet geleverd",
    rounding: "Afronding",
    grandTotal: "Totaal",
    note: "Opmerking",
    page: "Pagina {page} van {pages}",
    version: "versie",
    replaces: "Versie {version} vervangt versie {replaced} van {day}",
    telephone: "Tel.",
    unpriced: "Niet in het totaal inbegrepen, omdat er geen wisselkoers is afgesproken: regel {lines}",
    decimalMark: ",",
    groupMark: ".",
  },
};

/** A number with so many decimals at least; further ones as far as it has them. */
export function numberText(value: number, language: Language, decimalsMin = 0): string {
  const { decimalMark, groupMark } = texts[language];
  const [whole = "", fraction = ""] = Math.abs(value).toFixed(4).replace(/0+$/, "").split(".");
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, groupMark);
  const decimals = fraction.padEnd(decimalsMin, "0");
  return `${value < 0 ? "−" : ""}${grouped}${decimals === "" ? "" : decimalMark + decimals}`;
}

/** A value with its name, as `Barcode: 871`. French has a blank before the colon. */
export const named = (label: string, value: string, language: Language): string =>
  `${label}${language === "fr" ? "\u00a0" : ""}: ${value}`;
