/**
 * Default texts of an order's mail, in the language of the shop's documents (C63).
 *
 * Owns: the texts, and where a supplier's link stands in one. Does not own: links (shop/supplier/supplier-links.ts).
 */
import { filledLine } from "../../base/text/filled.ts";
import { dayText } from "./day-text.ts";
import type { Language } from "../../base/text/language.ts";
import { mailSubjectMax } from "./mail.ts";
import { cutAt, onOneLine } from "../../base/text/plain-text.ts";

/** Stands in a message where the supplier's link will. */
export const linkPlace = "{link}";

interface Texts {
  /** `{number}` and `{shop}` are replaced. */
  readonly subject: string;
  readonly message: string;
  /** Behind the subject; `{version}` and `{day}` are replaced. */
  readonly replaces: string;
  /** Text before the link. */
  readonly link: string;
  readonly farewell: string;
}

const texts: Readonly<Record<Language, Texts>> = {
  en: {
    subject: "Purchase order {number} from {shop}",
    message:
      "Hello,\n\nplease find our purchase order {number} attached. Please confirm quantities and delivery date.\n\n",
    replaces: "(replaces version {version} of {day})",
    link: "You can confirm them here, without signing in:",
    farewell: "Kind regards\n{shop}\n",
  },
  de: {
    subject: "Bestellung {number} von {shop}",
    message:
      "Guten Tag,\n\nim Anhang finden Sie unsere Bestellung {number}. Bitte bestätigen Sie Mengen und Liefertermin.\n\n",
    replaces: "(ersetzt Version {version} vom {day})",
    link: "Das geht hier, ohne Anmeldung:",
    farewell: "Mit freundlichen Grüßen\n{shop}\n",
  },
  fr: {
    subject: "Commande {number} de {shop}",
    message:
      "Bonjour,\n\nveuillez trouver ci-joint notre commande {number}. Merci de confirmer les quantités et la date de livraison.\n\n",
    replaces: "(remplace la version {version} du {day})",
    link: "Vous pouvez les confirmer ici, sans inscription :",
    farewell: "Cordialement\n{shop}\n",
  },
  es: {
    subject: "Pedido {number} de {shop}",
    message:
      "Buenos días:\n\nadjuntamos nuestro pedido {number}. Les rogamos que confirmen las cantidades y la fecha de entrega.\n\n",
    replaces: "(sustituye a la versión {version} del {day})",
    link: "Pueden confirmarlo aquí, sin registrarse:",
    farewell: "Saludos cordiales\n{shop}\n",
  },
  nl: {
    subject: "Bestelling {number} van {shop}",
    message:
      "Goedendag,\n\nin de bijlage vindt u onze bestelling {number}. Wilt u de aantallen en de leverdatum bevestigen?\n\n",
    replaces: "(vervangt versie {version} van {day})",
    link: "Dat kan hier, zonder in te loggen:",
    farewell: "Met vriendelijke groet\n{shop}\n",
  },
};

/** Subject of a default text. */
interface Named {
  readonly poNumber: string;
  readonly shopName: string;
  readonly language: Language;
}

/** A version of the order that was mailed before, and the day of that (`YYYY-MM-DD`). */
export interface ReplacedVersion {
  readonly version: number;
  readonly day: string;
}

/** The text with the names of an order and its shop. */
const withNames = (text: string, { poNumber, shopName }: Named): string =>
  filledLine(text, { number: poNumber, shop: shopName });

/** The subject of a mail for which nobody has written one. @param replaced  null: no version was mailed before. */
export function defaultMailSubject(named: Named, replaced: ReplacedVersion | null): string {
  const { subject, replaces } = texts[named.language];
  const plain = onOneLine(withNames(subject, named));
  const behind =
    replaced === null
      ? ""
      : ` ${replaces.replace("{version}", String(replaced.version)).replace("{day}", dayText(replaced.day, named.language))}`;
  const room = mailSubjectMax - behind.length;
  return cutAt(plain, room) + behind;
}

/** The message of a mail for which nobody has written one. @param withLink  it has a place for the supplier's link. */
export function defaultMailMessage(named: Named, withLink: boolean): string {
  const { message, link, farewell } = texts[named.language];
  return `${withNames(message, named)}${withLink ? `${link}\n${linkPlace}\n\n` : ""}${withNames(farewell, named)}`;
}

/** The message with a place for the supplier's link: at its end, if it has none. */
export const withLinkPlace = (message: string, language: Language): string =>
  message.includes(linkPlace) ? message : `${message.trimEnd()}\n\n${texts[language].link}\n${linkPlace}\n`;
