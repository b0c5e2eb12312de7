/** Texts of sending an order to its supplier and of what became of its e-mails. They are loaded with the order. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/send.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

export const sendTexts: Translated<typeof english.sendTexts> = isolating({
  title: (poNumber) => `Enviar ${poNumber} al proveedor`,
  goesTo: (address) => `Se envía a ${address}.`,
  noAddress: "El proveedor no tiene dirección de correo. Escriba una o pida a un propietario que la añada.",
  moves: "Al enviarlo, el pedido pasa a Enviado.",
  to: "Para",
  toHint: "Separe varias direcciones con comas.",
  cc: "Copia a",
  subject: "Asunto",
  message: "Mensaje",
  link: "Permitir que el proveedor responda con un enlace",
  linkHint: "El enlace va donde el mensaje dice {link}. Funciona 14 días, sin iniciar sesión.",
  csv: "Adjuntar también un archivo CSV",
  attaches: (name, size) => `Adjunto: ${name}, ${size}`,
  send: "Enviar",
  sending: "Enviando el correo…",
  later: "Ahora no",
  preview: "Lo que se adjuntará",
  drawing: "Creando el documento…",
  size: (bytes) => (bytes < 1000 ? `${number(bytes)} bytes` : `${number(Math.round(bytes / 100) / 10)} kB`),
  hash: (sha256) => `SHA-256 ${sha256}`,
  download: "Descargar",
  open: "Abrir en otra pestaña",
  noViewer: "Este navegador no muestra PDF dentro de una página. Ábralo o descárguelo.",
  changed:
    "El pedido ha cambiado desde que lo abrió. Este es el archivo actual; no se ha enviado nada y su texto se conserva.",
  off: "Este servicio aún no envía correos.",
  offHint:
    "El operador define OPENPO_SMTP_URL y OPENPO_MAIL_FROM y reinicia el servicio. Hasta entonces, descargue el archivo y envíelo con su propio programa de correo.",
  mailProgram: "Abrir mi programa de correo",
  mailProgramHint: "Adjunte el archivo que ha descargado. Después, marque el pedido como enviado.",
  markSent: "Marcar como enviado",
  mails: "Correos",
  allSent: (count) => plural(count, "correo enviado", "correos enviados"),
  states: { queued: "Sin enviar", sent: "Enviado", failed: "Fallido" },
  mailTo: (addresses) => `a ${addresses}`,
  by: (name) => `por ${name}`,
  next: (at) => `Nuevo intento: ${at}.`,
  firstTry: "Se está enviando.",
  serverSays: (words) => `El servidor de correo responde: ${words}`,
  attached: (names, version) => `${names}, versión ${number(version)}`,
  withLink: "con un enlace para responder",
  sendAgain: "Enviar de nuevo",
  sendAgainOf: (addresses) => `Enviar de nuevo a ${addresses}`,
  anew: "Modificar y enviar de nuevo",
  more: (count) => (count === 1 ? "y 1 anterior" : `y ${number(count)} anteriores`),
  pleaseCheck: "Compruebe",
  gone: {
    sent: (addresses) => `El servidor de correo ha aceptado el correo para ${addresses}.`,
    queued: "El servidor de correo aún no ha aceptado el correo. Se reintenta durante 24 horas; consulte abajo.",
    failed: "El correo ha fallado. El pedido está guardado; vea el motivo abajo y envíelo de nuevo.",
  },
});
