/** Texts of merging two Drafts. They are loaded with its menu entry. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/merge.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "línea", "líneas");

export const mergeTexts: Translated<typeof english.mergeTexts> = isolating({
  into: "Combinar con…",
  alone: "No hay otro borrador con este proveedor, esta ubicación y esta moneda.",
  of: (order) => `Combinar ${order} con otro borrador`,
  stays: "Borrador que se conserva",
  size: (count, total) => `${lines(count)}, ${total}`,
  action: "Combinar",
  title: (order, into) => `¿Combinar ${order} con ${into}?`,
  text: (order, count, into, then) =>
    `${order} desaparece y ${count === 1 ? "su línea pasa" : `sus ${lines(count)} pasan`} a ${into.title}: ahora ${into.hint ?? ""}; después, ${then}. Las notas, fechas, gastos de envío y descuentos de ${order} no pasan. No se puede deshacer.`,
  stale: (order) => ({
    message: `Alguien ha modificado ${order} mientras tanto.`,
    action: "Revíselo de nuevo antes de combinarlo.",
  }),
});
