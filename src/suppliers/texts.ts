/**
 * Every text of a supplier's page, in each language that it speaks. `{name}` stands for a value.
 */

/** Languages that there are texts in, the first where nothing better is known. */
const languages = ["en", "de", "fr", "es"] as const;

export type Language = (typeof languages)[number];

const en = {
  order: "Purchase order {number}",
  from: "from {shop}",
  forSupplier: "For {supplier}",
  status: {
    draft: "This order was not sent yet. It may still change.",
    held: "This order is on hold. It takes no answer now.",
    over: "This order is complete. It takes no answer any more.",
  },
  orderDate: "Order date",
  expected: "Expected on",
  deliverTo: "Deliver to",
  paymentTerms: "Payment terms",
  incoterm: "Delivery terms",
  note: "Note",
  lines: "Articles",
  linesShown: "Articles {first} to {last} of {count}",
  nextLines: "Further articles",
  firstLines: "First articles",
  pageFirst: "Each page of articles is sent by itself.",
  supplierSku: "Your article number",
  sku: "Our article number",
  barcode: "Barcode",
  ordered: "Ordered",
  cancelled: "Cancelled",
  confirmed: "Confirmed so far",
  received: "Received",
  unitCost: "Price",
  total: "Total",
  goods: "Goods",
  shipping: "Shipping",
  discount: "Discount",
  tax: "Tax",
  grandTotal: "Total of the order",
  answer: "Your answer",
  answerHelp: "Correct what differs and send it. {shop} looks at your answer before the order changes.",
  quantity: "Quantity you will deliver",
  date: "Delivery date",
  cannot: "Cannot be delivered",
  reference: "Your order number",
  tracking: "Tracking number",
  send: "Send answer",
  download: "Download",
  sent: "Thank you. {shop} has your answer.",
  open: "Your answer of {date} waits for {shop}. You can send another in its place.",
  accepted: "Your answer of {date} was accepted.",
  rejected: "Your answer of {date} was not accepted. You can send another.",
  until: "This link works until {date}. Whoever has it sees this order.",
  errors: "Nothing was sent. Please correct:",
  errorIn: "{article}: {error}",
  badQuantity: "The quantity must be a number, 0 or more, with at most 3 decimals.",
  pastDate: "The date is over. Choose today or a later day.",
  badDate: "The date must be a day like 2026-03-01.",
  tooLong: "At most {max} characters.",
  notPlain: "Only letters, digits and signs, on one line.",
  nothing: "Nothing was filled in.",
  changed: "The order has changed meanwhile. Please look at it and send your answer again.",
  endedTitle: "This link leads nowhere",
  ended: "It may have expired, been withdrawn, or been copied in part. Ask whoever sent you the order for a new link.",
  busyTitle: "Please wait",
  busy: "There were too many requests. Try again in a minute.",
  failedTitle: "That did not work",
  failed: "Nothing was changed. Try again in a minute.",
  elsewhere: "This answer did not come from the order's own page. Open the link and send it from there.",
};

export type Texts = typeof en;

const de: Texts = {
  order: "Bestellung {number}",
  from: "von {shop}",
  forSupplier: "Für {supplier}",
  status: {
    draft: "Diese Bestellung wurde noch nicht abgeschickt. Sie kann sich noch ändern.",
    held: "Diese Bestellung ruht. Sie kann jetzt nicht beantwortet werden.",
    over: "Diese Bestellung ist abgeschlossen. Sie kann nicht mehr beantwortet werden.",
  },
  orderDate: "Bestelldatum",
  expected: "Erwartet am",
  deliverTo: "Lieferadresse",
  paymentTerms: "Zahlungsbedingungen",
  incoterm: "Lieferbedingungen",
  note: "Hinweis",
  lines: "Artikel",
  linesShown: "Artikel {first} bis {last} von {count}",
  nextLines: "Weitere Artikel",
  firstLines: "Erste Artikel",
  pageFirst: "Jede Seite mit Artikeln wird für sich gesendet.",
  supplierSku: "Ihre Artikelnummer",
  sku: "Unsere Artikelnummer",
  barcode: "Strichcode",
  ordered: "Bestellt",
  cancelled: "Storniert",
  confirmed: "Bisher bestätigt",
  received: "Erhalten",
  unitCost: "Preis",
  total: "Summe",
  goods: "Waren",
  shipping: "Versand",
  discount: "Rabatt",
  tax: "Steuer",
  grandTotal: "Bestellsumme",
  answer: "Ihre Antwort",
  answerHelp:
    "Korrigieren Sie, was abweicht, und senden Sie die Antwort. {shop} prüft sie, bevor sich die Bestellung ändert.",
  quantity: "Menge, die Sie liefern",
  date: "Liefertermin",
  cannot: "Nicht lieferbar",
  reference: "Ihre Auftragsnummer",
  tracking: "Sendungsnummer",
  send: "Antwort senden",
  download: "Herunterladen",
  sent: "Vielen Dank. {shop} hat Ihre Antwort erhalten.",
  open: "Ihre Antwort vom {date} liegt bei {shop}. Sie können stattdessen eine neue senden.",
  accepted: "Ihre Antwort vom {date} wurde angenommen.",
  rejected: "Ihre Antwort vom {date} wurde nicht angenommen. Sie können eine neue senden.",
  until: "Dieser Link gilt bis {date}. Wer ihn hat, sieht diese Bestellung.",
  errors: "Es wurde nichts gesendet. Bitte korrigieren Sie:",
  errorIn: "{article}: {error}",
  badQuantity: "Die Menge muss eine Zahl sein, mindestens 0, mit höchstens 3 Nachkommastellen.",
  pastDate: "Dieser Tag ist vorbei. Nehmen Sie heute oder einen späteren.",
  badDate: "Das Datum muss ein Tag wie 2026-03-01 sein.",
  tooLong: "Höchstens {max} Zeichen.",
  notPlain: "Nur Buchstaben, Ziffern und Zeichen, in einer Zeile.",
  nothing: "Es wurde nichts ausgefüllt.",
  changed: "Die Bestellung hat sich inzwischen geändert. Bitte prüfen Sie sie und senden Sie Ihre Antwort noch einmal.",
  endedTitle: "Dieser Link führt nirgendwohin",
  ended:
    "Er ist vielleicht abgelaufen, wurde zurückgezogen oder nicht vollständig kopiert. Bitten Sie den Absender der Bestellung um einen neuen Link.",
  busyTitle: "Bitte warten",
  busy: "Es gab zu viele Anfragen. Versuchen Sie es in einer Minute noch einmal.",
  failedTitle: "Das hat nicht geklappt",
  failed: "Es wurde nichts geändert. Versuchen Sie es in einer Minute noch einmal.",
  elsewhere:
    "Diese Antwort kam nicht von der Seite der Bestellung. Öffnen Sie den Link und senden Sie die Antwort von dort.",
};

const fr: Texts = {
  order: "Commande {number}",
  from: "de {shop}",
  forSupplier: "Pour {supplier}",
  status: {
    draft: "Cette commande n’a pas encore été envoyée. Elle peut encore changer.",
    held: "Cette commande est suspendue. Vous ne pouvez pas y répondre pour le moment.",
    over: "Cette commande est terminée. Vous ne pouvez plus y répondre.",
  },
  orderDate: "Date de commande",
  expected: "Attendue le",
  deliverTo: "Adresse de livraison",
  paymentTerms: "Conditions de paiement",
  incoterm: "Conditions de livraison",
  note: "Remarque",
  lines: "Articles",
  linesShown: "Articles {first} à {last} sur {count}",
  nextLines: "Articles suivants",
  firstLines: "Premiers articles",
  pageFirst: "Chaque page d’articles s’envoie séparément.",
  supplierSku: "Votre référence",
  sku: "Notre référence",
  barcode: "Code-barres",
  ordered: "Commandé",
  cancelled: "Annulé",
  confirmed: "Déjà confirmé",
  received: "Reçu",
  unitCost: "Prix",
  total: "Total",
  goods: "Marchandises",
  shipping: "Frais de port",
  discount: "Remise",
  tax: "Taxe",
  grandTotal: "Total de la commande",
  answer: "Votre réponse",
  answerHelp: "Corrigez ce qui diffère, puis envoyez. {shop} examine votre réponse avant que la commande ne change.",
  quantity: "Quantité que vous livrerez",
  date: "Date de livraison",
  cannot: "Ne peut pas être livré",
  reference: "Votre numéro de commande",
  tracking: "Numéro de suivi",
  send: "Envoyer la réponse",
  download: "Télécharger",
  sent: "Merci. {shop} a reçu votre réponse.",
  open: "Votre réponse du {date} attend la décision de {shop}. Vous pouvez en envoyer une autre à la place.",
  accepted: "Votre réponse du {date} a été acceptée.",
  rejected: "Votre réponse du {date} n’a pas été acceptée. Vous pouvez en envoyer une autre.",
  until: "Ce lien est valable jusqu’au {date}. Toute personne qui l’a voit cette commande.",
  errors: "Rien n’a été envoyé. Veuillez corriger :",
  errorIn: "{article} : {error}",
  badQuantity: "La quantité doit être un nombre, 0 ou plus, avec 3 décimales au plus.",
  pastDate: "Cette date est passée. Choisissez aujourd’hui ou un jour suivant.",
  badDate: "La date doit être un jour comme 2026-03-01.",
  tooLong: "{max} caractères au plus.",
  notPlain: "Seulement des lettres, des chiffres et des signes, sur une ligne.",
  nothing: "Rien n’a été rempli.",
  changed: "La commande a changé entre-temps. Veuillez la relire et renvoyer votre réponse.",
  endedTitle: "Ce lien ne mène nulle part",
  ended:
    "Il a peut-être expiré, été retiré ou été copié en partie. Demandez un nouveau lien à la personne qui vous a envoyé la commande.",
  busyTitle: "Veuillez patienter",
  busy: "Il y a eu trop de demandes. Réessayez dans une minute.",
  failedTitle: "Cela n’a pas fonctionné",
  failed: "Rien n’a été modifié. Réessayez dans une minute.",
  elsewhere: "Cette réponse ne vient pas de la page de la commande. Ouvrez le lien et envoyez-la depuis cette page.",
};

const es: Texts = {
  order: "Pedido {number}",
  from: "de {shop}",
  forSupplier: "Para {supplier}",
  status: {
    draft: "Este pedido aún no se ha enviado. Todavía puede cambiar.",
    held: "Este pedido está en espera. Ahora no admite respuesta.",
    over: "Este pedido está completo. Ya no admite respuesta.",
  },
  orderDate: "Fecha del pedido",
  expected: "Se espera el",
  deliverTo: "Dirección de entrega",
  paymentTerms: "Condiciones de pago",
  incoterm: "Condiciones de entrega",
  note: "Nota",
  lines: "Artículos",
  linesShown: "Artículos {first} a {last} de {count}",
  nextLines: "Más artículos",
  firstLines: "Primeros artículos",
  pageFirst: "Cada página de artículos se envía por separado.",
  supplierSku: "Su referencia",
  sku: "Nuestra referencia",
  barcode: "Código de barras",
  ordered: "Pedido",
  cancelled: "Cancelado",
  confirmed: "Confirmado hasta ahora",
  received: "Recibido",
  unitCost: "Precio",
  total: "Total",
  goods: "Mercancía",
  shipping: "Envío",
  discount: "Descuento",
  tax: "Impuesto",
  grandTotal: "Total del pedido",
  answer: "Su respuesta",
  answerHelp: "Corrija lo que difiera y envíelo. {shop} revisa su respuesta antes de que cambie el pedido.",
  quantity: "Cantidad que entregará",
  date: "Fecha de entrega",
  cannot: "No se puede entregar",
  reference: "Su número de pedido",
  tracking: "Número de seguimiento",
  send: "Enviar respuesta",
  download: "Descargar",
  sent: "Gracias. {shop} ha recibido su respuesta.",
  open: "Su respuesta del {date} espera a {shop}. Puede enviar otra en su lugar.",
  accepted: "Su respuesta del {date} fue aceptada.",
  rejected: "Su respuesta del {date} no fue aceptada. Puede enviar otra.",
  until: "Este enlace funciona hasta el {date}. Quien lo tenga ve este pedido.",
  errors: "No se ha enviado nada. Corrija:",
  errorIn: "{article}: {error}",
  badQuantity: "La cantidad debe ser un número, 0 o más, con 3 decimales como máximo.",
  pastDate: "Esa fecha ya pasó. Elija hoy o un día posterior.",
  badDate: "La fecha debe ser un día como 2026-03-01.",
  tooLong: "{max} caracteres como máximo.",
  notPlain: "Solo letras, cifras y signos, en una línea.",
  nothing: "No se ha rellenado nada.",
  changed: "El pedido ha cambiado mientras tanto. Revíselo y envíe su respuesta de nuevo.",
  endedTitle: "Este enlace no lleva a ninguna parte",
  ended:
    "Puede haber caducado, haberse retirado o haberse copiado en parte. Pida un enlace nuevo a quien le envió el pedido.",
  busyTitle: "Espere, por favor",
  busy: "Ha habido demasiadas solicitudes. Inténtelo de nuevo en un minuto.",
  failedTitle: "No ha funcionado",
  failed: "No se ha cambiado nada. Inténtelo de nuevo en un minuto.",
  elsewhere: "Esta respuesta no viene de la página del pedido. Abra el enlace y envíela desde allí.",
};

export const textsIn: Readonly<Record<Language, Texts>> = { en, de, fr, es };

/** Separators of thousands and decimals in a language. */
export const marksIn: Readonly<Record<Language, { readonly group: RegExp; readonly decimal: string }>> = {
  en: { group: /,/g, decimal: "." },
  de: { group: /\./g, decimal: "," },
  fr: { group: /[\s\u00a0\u202f]/g, decimal: "," },
  es: { group: /\./g, decimal: "," },
};

/** The language of this name; `otherwise` when there is none. */
export const languageNamed = (name: string | null, otherwise: Language): Language =>
  languages.find((each) => each === name) ?? otherwise;

/** Languages of the header that are read: more is no browser's. */
const acceptedMax = 20;

/** The language that `Accept-Language` likes best of those there are; `otherwise` when it names none of them. */
export function languageFor(acceptLanguage: string | null, otherwise: Language): Language {
  const liked = (acceptLanguage ?? "")
    .split(",", acceptedMax)
    .flatMap((entry) => {
      const [tag = "", ...parameters] = entry.trim().toLowerCase().split(";");
      const language = languages.find((each) => tag === each || tag.startsWith(`${each}-`));
      const quality = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find((each) => each !== undefined);
      return language === undefined ? [] : [{ language, quality: Number(quality ?? 1) }];
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  return liked[0]?.language ?? otherwise;
}

/** The text with its values. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
