/** Texts of reordering from a forecast. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/goods/reorder.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

export const reorderTexts: Translated<typeof english.reorderTexts> = isolating({
  title: "Reposición",
  views: "Vistas de previsión",
  empty: "Todavía no hay ninguna vista de previsión.",
  emptyHint:
    "Una vista define qué productos y cifras se muestran. Un propietario de la tienda puede crear una aquí o importarla.",
  makeView: "Crear la vista «Por pedir»",
  viewName: "Por pedir",
  noRows: "Nada necesita reposición en esta vista.",
  noSuppliers: "Esta vista no muestra quién suministra un producto. Cada uno se pide a su proveedor más barato.",
  shown: (loaded, total) =>
    loaded === total
      ? plural(total, "producto", "productos")
      : `${number(loaded)} de ${number(total)} productos cargados`,
  search: "Buscar en esta vista",
  searchHint: "Nombre, SKU o proveedor",
  found: (found, total) => `${number(found)} de ${plural(total, "producto", "productos")}`,
  nothing: "Nada de esta vista coincide.",
  toProduct: "Página del producto",
  outlook: (days) => `Próximos ${days} días`,
  undated: "Hay mercancía en camino, sin fecha",
  lasts: (days) => `Hay stock para ${days} días o más`,
  out: (days) => (days === "0" ? "No queda nada" : `No quedará nada en ${days} ${days === "1" ? "día" : "días"}`),
  grid: "Productos y sus cifras",
  help: "Flechas para moverse, Espacio para marcar; una cantidad marca su línea.",
  tick: (product) => `Pedir ${product}`,
  quantity: (product) => `Cantidad de ${product}`,
  order: "Pedir",
  product: "Producto",
  notNumber: "Escriba una cantidad.",
  terms: (moq, packSize) =>
    [moq === null ? null : `mín. ${moq}`, packSize === null ? null : `paquetes de ${packSize}`]
      .filter((part) => part !== null)
      .join(", "),
  roundTo: (quantity) => `→ ${quantity}`,
  roundToLabel: (quantity, product) => `Redondear ${product} a ${quantity}`,
  onDraft: (quantity) => `${quantity} en borrador`,
  yes: "Sí",
  no: "No",
  tickAll: "Marcar sugeridos",
  untick: "Desmarcar todo",
  ticked: (lines, suppliers) =>
    `${plural(lines, "línea", "líneas")} de ${plural(suppliers, "proveedor", "proveedores")}`,
  noneTicked: "Marque lo que quiere pedir.",
  make: (drafts) =>
    drafts === 0 ? "Crear borradores" : drafts === 1 ? "Crear 1 borrador" : `Crear ${number(drafts)} borradores`,
  plan: {
    title: (drafts) => (drafts === 1 ? "Un borrador" : `${number(drafts)} borradores`),
    lead: "Un pedido por proveedor, como borrador: no se envía nada.",
    location: "Entregar en",
    noLocation: "La tienda no tiene ninguna ubicación. Añada una primero.",
    lines: (lines) => plural(lines, "línea", "líneas"),
    arrival: (date) => `llega el ${date}`,
    onDraft: (lines) => plural(lines, "línea ya está en un borrador", "líneas ya están en un borrador"),
    unsupplied: (products) => `Sin proveedor, por eso quedan sin marcar: ${products}`,
    making: "Creando…",
    unknownSupplier: (name) =>
      `Ningún proveedor, o más de uno, se llama «${name}». Añada la columna supplierId a la vista.`,
    tooMany: (max) => `Un pedido tiene como máximo ${max} líneas. Desmarque algunas.`,
    failed:
      "Los borradores con número ya existen. Los demás no, o se perdió la respuesta: reintentar no crea ninguno dos veces.",
    done: (drafts) => (drafts === 1 ? "El borrador está creado." : `Los ${number(drafts)} borradores están creados.`),
    again: "Reintentar los demás",
    close: "Cerrar",
    cancel: "Cancelar",
  },
});
