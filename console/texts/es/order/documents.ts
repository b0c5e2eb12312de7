/** Texts of an order's document and of how documents look. They are loaded with the screens. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/documents.ts";
import type { Translated } from "../../languages.ts";

export const documentTexts: Translated<typeof english.documentTexts> = isolating({
  print: "Imprimir",
  back: "Volver al pedido",
  page: "Aspecto en papel",
  hint: "El PDF tiene este aspecto, con números de página y un código de barras. Los archivos son iguales para todos mientras no cambien el pedido o el membrete.",
  title: "Aspecto de los documentos",
  lead: "Lo que sus proveedores ven en la cabecera y al pie de cada pedido, y las columnas de las líneas.",
  language: "Idioma",
  paper: "Papel",
  papers: { A4: "A4", Letter: "Carta" },
  columns: "Columnas además de descripción y cantidad",
  columnNames: {
    position: "Número de línea",
    supplierSku: "SKU del proveedor",
    sku: "SKU propio",
    barcode: "Código de barras",
    expectedDeliveryDate: "Fecha prevista",
    packSize: "Unidades por paquete",
    unitCost: "Costo unitario",
    lineTotal: "Importe",
  },
  address: "Su dirección",
  fields: {
    companyName: "Empresa",
    contactName: "Contacto",
    address1: "Calle",
    address2: "Calle, segunda línea",
    zip: "Código postal",
    city: "Ciudad",
    province: "Estado o provincia",
    country: "País",
    phone: "Teléfono",
    email: "Correo electrónico",
  },
  footer: "Pie de cada página",
  footerHint: "Registro mercantil, identificación fiscal, cuenta bancaria. Como máximo 600 caracteres.",
  logo: "Logotipo",
  logoHint: (kilobytes) =>
    `PNG, JPEG o un SVG de trazados; como máximo ${number(kilobytes)} kB y ${number(1_000_000)} píxeles. Aparece en la cabecera de la primera página.`,
  logoTooLarge: (kilobytes) => `El archivo supera los ${number(kilobytes)} kB. Guárdelo más pequeño.`,
  removeLogo: "Quitar el logotipo",
  currentLogo: "El logotipo actual",
  save: "Guardar",
  saving: "Guardando…",
  saved: "Guardado. Los documentos que se creen a partir de ahora tendrán este aspecto.",
});
