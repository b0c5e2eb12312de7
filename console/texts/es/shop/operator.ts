/** Texts of the operator's screen. They are loaded with it. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/operator.ts";
import type { Translated } from "../../languages.ts";

const zeroTo = (most: number): string => `De 0 a ${number(most)}`;

export const operatorTexts: Translated<typeof english.operatorTexts> = isolating({
  lead: "Usted es el operador: todas las tiendas de este servicio.",
  locked:
    "Para ver qué contienen las tiendas y cambiar la configuración, indique de nuevo el token de administración. Queda en la memoria de esta página.",
  unlock: "Mostrar más",
  open: (name) => `Abrir ${name}`,
  allShops: "Todas las tiendas",
  noShop: (shopId) => `No existe la tienda ${shopId}.`,
  notYours: "Esta página es del operador",
  notYoursHint: "Muestra todas las tiendas del servicio. Inicie sesión con el token de administración para verla.",
  empty: "Todavía no hay tiendas.",
  emptyHint: "En el servidor, openpo shop create crea una, y openpo demo crea una con datos de prueba.",
  columns: {
    shop: "Tienda",
    orders: "Pedidos",
    suppliers: "Proveedores",
    locations: "Ubicaciones",
    variants: "Productos",
    keys: "Claves",
    settings: "Configuración",
  },
  health: { good: "El servicio está listo.", bad: "El servicio no está listo." },
  faults: {
    title: "Fallos del entorno de pruebas",
    lead: "Para ensayos. Lo que se fija aquí sustituye a lo anterior; sin fallos, el entorno de pruebas funciona.",
    latencyMs: { label: "Cada llamada tarda (ms)", hint: `${zeroTo(600_000)}.` },
    applyDelayMs: {
      label: "Un cambio de stock se ve a los (ms)",
      hint: `${zeroTo(600_000)}.`,
    },
    fault: (index) => `Fallo ${index}`,
    call: "Llamada",
    everyCall: "todas las llamadas",
    outcome: "Qué ocurre",
    outcomes: {
      error: "error: no se hizo nada",
      throttled: "limitada: no se hizo nada",
      timeout: "tiempo agotado: sin respuesta, no se hizo nada",
      refused: "rechazada: estos productos, definitivamente",
      "lost-response": "respuesta perdida: se hizo, sin respuesta",
    },
    variantIds: { label: "Solo con estas variantes", hint: "ID de variantes separados por comas; vacío: todas." },
    times: { label: "Veces", hint: "Vacío: siempre." },
    add: "Añadir un fallo",
    remove: (index) => `Quitar el fallo ${index}`,
    set: "Fijar fallos",
  },
});
