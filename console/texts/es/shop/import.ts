/** Texts of importing files. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/import.ts";
import type { Translated } from "../../languages.ts";

const names: Readonly<Record<string, readonly [string, string]>> = {
  variant: ["producto", "productos"],
  supplier: ["proveedor", "proveedores"],
  location: ["ubicación", "ubicaciones"],
  supplierVariant: ["precio de proveedor", "precios de proveedores"],
  inventoryLevel: ["nivel de stock", "niveles de stock"],
  sale: ["día de ventas", "días de ventas"],
  purchaseOrder: ["pedido", "pedidos"],
  forecastView: ["vista de previsión", "vistas de previsión"],
};

export const importTexts: Translated<typeof english.importTexts> = isolating({
  title: "Importar",
  lead: "El archivo se comprueba primero. Verá qué cambiaría antes de que cambie nada.",
  why: "Solo los propietarios de la tienda importan archivos.",
  drop: "Suelte aquí un archivo o elíjalo",
  chosen: (name, size) => `${name}, ${size}`,
  kilobytes: (size) => `${number(size)} kB`,
  kind: "Contenido del archivo",
  kinds: {
    "shopify-products": {
      title: "Productos",
      hint: "La exportación de productos de Shopify: Handle, Title, Variant SKU, Variant Price…",
    },
    "shopify-inventory": {
      title: "Stock",
      hint: "La exportación de inventario de Shopify: Handle, Location, On hand…",
    },
    "supplier-prices": {
      title: "Precios de proveedores",
      hint: "Columnas en inglés: Supplier, SKU o Handle, Unit cost, Currency, MOQ, Pack size…",
    },
    suppliers: {
      title: "Proveedores",
      hint: "Columnas en inglés: Supplier, E-mail, Currency, Lead time, Payment terms, City…",
    },
    sales: { title: "Ventas", hint: "Columnas en inglés: SKU o Handle, Date, Quantity, Location" },
    ndjson: { title: "Registros de OpenPO", hint: "Un objeto JSON por línea, como los de una exportación." },
  },
  supplier: "Proveedor, si el archivo no indica ninguno",
  preview: (rows) => (rows === 1 ? "La primera fila" : `Las primeras ${number(rows)} filas`),
  line: "Línea",
  checking: "Comprobando…",
  importing: "Importando…",
  sent: (share) => `${share} enviado`,
  good: "El archivo es correcto. Se importaría:",
  nothing: "El archivo es correcto y no contiene nada que importar.",
  records: (type, count) => `${number(count)} ${(names[type] ?? [type, type])[count === 1 ? 0 : 1]}`,
  replaced: (count) =>
    count === 1 ? ", 1 sustituye datos existentes" : `, ${number(count)} sustituyen datos existentes`,
  counts: ({ changed, added, cleared }) =>
    [
      [changed, changed === 1 ? "cambiado" : "cambiados"] as const,
      [added, added === 1 ? "nuevo" : "nuevos"] as const,
      [cleared, cleared === 1 ? "vaciado" : "vaciados"] as const,
    ]
      .filter(([count]) => count !== 0)
      .map(([count, word]) => `${number(count)} ${word}`)
      .join(", "),
  changes: (rows) => `Antes y después${rows > 1 ? `, en los primeros ${number(rows)} registros` : ""}`,
  truncated: `El archivo es largo: se han comparado los primeros ${number(20_000)} registros.`,
  rule: "Se importa todo o nada. Lo que no tiene columna en el archivo queda como está.",
  go: "Importar",
  bad: "No se ha importado nada. Errores:",
  download: "Descargar esta lista",
  heads: ["Línea", "Columna", "Error"],
  row: "La línea en el archivo",
  again: "Corrija el archivo y vuelva a elegirlo.",
  done: "Importado:",
  another: "Importar otro archivo",
});
