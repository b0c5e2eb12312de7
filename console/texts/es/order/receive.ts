/** Texts of receiving and of the dock. They are loaded with these screens. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/receive.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

export const receiveTexts: Translated<typeof english.receiveTexts> = isolating({
  title: (poNumber) => `Recibir ${poNumber}`,
  back: (poNumber) => `Pedido ${poNumber}`,
  to: (location) => `En ${location}`,
  notReceivable: (status) =>
    `Se puede recibir mercancía si el pedido está En curso, Recibido en parte o Recibido. Estado actual: ${status}.`,
  toOrder: "Ir al pedido",
  elsewhere: "Este pedido se está contando en otra pestaña de este navegador. Ciérrela para continuar aquí.",
  scan: "Escanear",
  ready: "Listo para escanear",
  undo: "Deshacer último",
  all: "Recibir todo lo pendiente",
  save: "Recibir",
  saveAgain: "Enviar de nuevo",
  counted: (lines) => plural(lines, "línea contada", "líneas contadas"),
  noneCounted: "Aún no se ha contado nada",
  sending: "Guardando…",
  waiting:
    "El servidor no responde. Sus conteos se conservan en este dispositivo y se envían de nuevo automáticamente.",
  saved: (lines) => plural(lines, "línea recibida.", "líneas recibidas."),
  allHere: "Todo lo pedido está aquí o resuelto.",
  missing: (lines) => (lines === 1 ? "Falta 1 línea:" : `Faltan ${number(lines)} líneas:`),
  next: (order) => `Recibir a continuación: ${order}`,
  syncAgain: "Reenviar stock",
  unkept: "Este navegador no guarda datos. Sus conteos se pierden al cerrar esta página.",
  doubtful: {
    message: "Este guardado es de hace un día y puede que se haya registrado.",
    action: "Compare los totales con la mercancía. Después, reciba de nuevo o descarte sus conteos.",
  },
  discard: "Descartar conteos",
  somebody: "otra persona",
  othersCounts: (name, lines) =>
    `Hay conteos de ${name} sin guardar en este dispositivo: ${plural(lines, "línea", "líneas")}.`,
  othersDoubtful:
    "Se estaban guardando y el pedido ha cambiado desde entonces: puede que ya estén registrados. Compare antes los totales con la mercancía.",
  takeOver: "Usar estos conteos",
  discardOthers: (name) => `Descartar conteos de ${name}`,
  asking: "Otras personas han recibido mientras tanto. Con sus conteos hay más de lo confirmado:",
  askingLine: (product, over) => `${product}: ${over} de más`,
  allowAll: "Recibir de todos modos",
  allow: "Contar de todos modos",
  activate: "Activar y recibir",
  skip: "Recibir sin la tienda online",
  ofBase: (total, base) => `${total} de ${base}`,
  mine: (amount) => `+${amount} sin guardar`,
  parts: { received: "Recibido", rejected: "Rechazado", cancelled: "Faltante" },
  more: "Rechazo o faltante",
  short: "El resto no llega",
  outcome: {
    countsAs: {
      piece: "",
      pack: " (un paquete)",
      count: " (según el código)",
      "unknown-pack": " (paquete de tamaño desconocido, cuenta como uno)",
    },
    counted: (amount, total, base, product) => `${amount} → ${total} de ${base} ${product}`,
    unknown: (code) => `«${code}» no está en este pedido. No se ha contado nada.`,
    ambiguous: (code) => `«${code}» es el código de varios productos. Escriba la cantidad en la línea correcta.`,
    unreadable: (text) => `«${text}» no es una cantidad. No se ha contado nada.`,
    over: (product) => `Más de lo confirmado: ${product}. No se ha contado nada.`,
    complete: (product) => `Ya está completo: ${product}. No se ha contado nada.`,
    below: (least, product) => `Ya hay ${least} de ${product} registrados. Las recepciones se anulan en el pedido.`,
    undone: (product, more) => (more === 0 ? `Deshecho: ${product}` : `Deshecho: ${product} y ${number(more)} más`),
    countedAll: (lines) => plural(lines, "línea completada", "líneas completadas"),
  },
});

export const dockTexts: Translated<typeof english.dockTexts> = isolating({
  title: "Recepción",
  lead: "Escanee una caja para ver los pedidos abiertos que la esperan, o una nota de entrega para abrir su pedido.",
  none: (code) => `Ningún pedido abierto espera «${code}».`,
  found: (code, lines) =>
    lines === 1 ? `1 línea abierta espera «${code}»` : `${number(lines)} líneas abiertas esperan «${code}»`,
  pending: (quantity) => `${quantity} por recibir`,
  expected: (date) => `previsto el ${date}`,
  enter: "Enter recibe en la primera.",
  pack: (pieces) => `Cada lectura es un paquete de ${pieces}`,
  count: (pieces) => `Cada lectura cuenta ${pieces}`,
  unknownPack: "Paquete de tamaño desconocido: cada lectura cuenta uno",
  notYet: "Aún no está en curso",
  nothing: "No hay nada por recibir.",
  nothingHint:
    "Un pedido aparece aquí en cuanto está en curso. La mercancía se cuenta entonces con el escáner o a mano.",
  toOrders: "Ver todos los pedidos",
});
