/** Spanish texts of what is done with several orders at once. They are loaded when one is ticked in the list. */
import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/ticked.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const orders = (count: number): string => plural(count, "pedido", "pedidos");

export const tickedTexts: Translated<typeof english.tickedTexts> = isolating({
  bar: "Con los pedidos seleccionados",
  selected: (count) => plural(count, "seleccionado", "seleccionados"),
  clear: "Anular la selección",
  send: "Enviar",
  move: "Estado",
  noMove: "Ningún paso es posible para todos. Seleccione pedidos con el mismo estado.",
  noSend: "Enviar: solo se pueden enviar juntos borradores.",
  noMerge: "Combinar: seleccione al menos dos borradores con el mismo proveedor, la misma ubicación y la misma moneda.",
  more: "Más",
  print: "Imprimir",
  pdf: "Descargar PDF",
  csv: "Exportar CSV",
  tooMany: (max) => `Como máximo ${number(max)} documentos a la vez.`,
  running: (done, of) => `${number(done)} de ${number(of)}…`,
  count: orders,
  done: (count) => (count === 1 ? `${orders(count)} hecho` : `${orders(count)} hechos`),
  refused: (count) => plural(count, "rechazado", "rechazados"),
  waiting: (count) => plural(count, "espera aprobación", "esperan aprobación"),
  noAddress:
    "El proveedor no tiene dirección de correo. Añádala en la ficha del proveedor o envíe el pedido por separado.",
  stale: "Alguien lo ha modificado mientras tanto. Revíselo e inténtelo de nuevo.",
  close: "Cerrar",
  sendTitle: (count) => `¿Enviar ${orders(count)} a los proveedores?`,
  sendText:
    "Cada proveedor recibe un correo con el pedido en PDF, el texto habitual y un enlace para responder. Los pedidos pasan a «Enviado». Un correo no se puede recuperar.",
  moveTitle: (action, count) => `${action}: ¿${orders(count)}?`,
  merge: "Combinar",
  mergeTitle: (count) => `¿Combinar ${number(count)} borradores?`,
  mergeInto: "Borrador que se conserva",
  mergeText:
    "Los demás borradores desaparecen y sus líneas pasan a él. Sus notas, fechas, gastos de envío y descuentos no pasan. No se puede deshacer.",
  lines: (count) => plural(count, "línea", "líneas"),
  noSupplier: "sin proveedor",
  records: {
    bar: "Con las filas seleccionadas",
    selected: (count) => plural(count, "seleccionado", "seleccionados"),
    archived: (count) => plural(count, "archivado", "archivados"),
    broughtBack: (count) => plural(count, "restaurado", "restaurados"),
    done: (count) => plural(count, "hecho", "hechos"),
    refused: (count) => plural(count, "rechazado", "rechazados"),
  },
});
