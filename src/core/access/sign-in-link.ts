/**
 * Links by which people sign in again (C49): bounds, and what the mail with one says. It is in the person's language.
 * Pure.
 */
import { minuteMs } from "../../base/time/calendar.ts";
import { filledLine } from "../../base/text/filled.ts";
import { cutAt } from "../../base/text/plain-text.ts";
import type { Language } from "../../base/text/language.ts";
import { mailSubjectMax } from "../supplier/mail.ts";
import { linkPlace } from "../supplier/mail-texts.ts";

/** Time for which a link can be used, from its request on. */
export const signInLinkMs = 900_000;

/** In what time links are counted for their limits. They are kept for as long. */
export const signInLinksCountedMs = 3_600_000;

/** Links that a person gets within `signInLinksCountedMs`. Further requests send nothing. */
export const signInLinksOfPersonMax = 5;

/** Links that go to the people of a shop within `signInLinksCountedMs`. Further requests send nothing. */
export const signInLinksOfShopMax = 200;

/** People with one e-mail who get a link each, in a shop: those who were there last. */
export const linkedPeopleMax = 5;

/** Shops in which the people with one e-mail get links. */
export const linkedShopsMax = 20;

/** True if the person may get another link. @param linked  whom the links of the window were for. */
export const mayGetLink = (personId: string, linked: readonly string[]): boolean =>
  linked.length < signInLinksOfShopMax && linked.filter((each) => each === personId).length < signInLinksOfPersonMax;

/** `{name}`, `{shop}` and `{minutes}` are replaced. */
interface Texts {
  readonly subject: string;
  readonly hello: string;
  readonly link: string;
  readonly once: string;
  readonly unasked: string;
}

const texts: Readonly<Record<Language, Texts>> = {
  en: {
    subject: "Sign in to {shop}",
    hello: "Hello {name},",
    link: "sign in to {shop} here:",
    once: "The link works once, for {minutes} minutes.",
    unasked: "If you did not ask for it, do nothing.",
  },
  de: {
    subject: "Anmelden bei {shop}",
    hello: "Guten Tag {name},",
    link: "hier melden Sie sich bei {shop} an:",
    once: "Der Link gilt einmal, {minutes} Minuten lang.",
    unasked: "Haben Sie ihn nicht angefordert, tun Sie nichts.",
  },
  fr: {
    subject: "Connexion à {shop}",
    hello: "Bonjour {name},",
    link: "connectez-vous à {shop} ici :",
    once: "Le lien fonctionne une fois, pendant {minutes} minutes.",
    unasked: "Si vous ne l'avez pas demandé, ne faites rien.",
  },
  es: {
    subject: "Iniciar sesión en {shop}",
    hello: "Hola, {name}:",
    link: "inicie sesión en {shop} aquí:",
    once: "El enlace funciona una vez, durante {minutes} minutos.",
    unasked: "Si no lo ha pedido, no haga nada.",
  },
  nl: {
    subject: "Inloggen bij {shop}",
    hello: "Hallo {name},",
    link: "hier log je in bij {shop}:",
    once: "De link werkt één keer, {minutes} minuten lang.",
    unasked: "Heb je er niet om gevraagd? Dan hoef je niets te doen.",
  },
};

/** Subject and text of the mail, with `linkPlace` where the link will stand. */
export function signInMailText(
  name: string,
  { language, shopName }: { readonly language: Language; readonly shopName: string },
): { readonly subject: string; readonly text: string } {
  // Braces in a name could pass for the link's place.
  const plain = (text: string): string => text.replaceAll(/[{}]/g, "");
  const values = { name: plain(name), shop: plain(shopName), minutes: signInLinkMs / minuteMs };
  const { subject, hello, link, once, unasked } = texts[language];
  const said = (text: string): string => filledLine(text, values);
  return {
    subject: cutAt(said(subject), mailSubjectMax),
    text: `${[said(hello), `${said(link)}\n${linkPlace}`, said(once), said(unasked)].join("\n\n")}\n`,
  };
}
