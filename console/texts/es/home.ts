/** Texts of the home screen. They are loaded with it. */

import { isolating } from "../isolated.ts";
import { number } from "../../data/format.ts";
import type * as english from "../en/home.ts";
import type { Translated } from "../languages.ts";
import { plural } from "../plural.ts";

const orders = (count: number): string => plural(count, "pedido", "pedidos");

export const homeTexts: Translated<typeof english.homeTexts> = isolating({
  hello: (name) => `Hola, ${name}`,
  todo: "Tareas pendientes",
  tasks: {
    approvals: "por aprobar",
    late: "con retraso",
    today: "por llegar hoy",
    waiting: "por confirmar",
    answers: "respuestas por aceptar",
    reorder: "por reponer",
    drafts: "borradores por enviar",
    failed: "errores de tienda online",
    mails: "errores de correo",
  },
  failures: "Errores de correo y de tienda online",
  mailFailed: "Ha fallado el correo",
  syncFailures: "Todos los errores de tienda online",
  moreFailures: (count) => `y ${number(count)} más`,
  arriving: "Próximas llegadas",
  unread: "No se han podido leer los pedidos. Vuelva a cargar la página en un momento.",
  nothingArriving: "No hay nada en camino.",
  allOpen: "Pedidos abiertos",
  value: "En camino, por semana",
  valueHint: (amount, count) => `Valor pendiente: ${amount} en ${orders(count)}`,
  nothingExpected: "Nada de ello se espera en estas semanas.",
  lateWeek: "Atraso",
  week: "Semana del",
  amount: "Importe",
  supplier: "Proveedor",
  received: "Recibido, por semana",
  receivedHint: (amount, weeks) => `${amount} en ${number(weeks)} semanas`,
  nothingReceived: "No se ha recibido nada en estas semanas.",
  spend: "Gasto por proveedor",
  spendHint: (amount, count) => `Pedido en los últimos 90 días: ${amount} en ${orders(count)}`,
  nothingOrdered: "No se ha pedido nada en los últimos 90 días.",
  calendar: "Entregas",
  deliveries: (count) => plural(count, "entrega", "entregas"),
  today: "hoy",
  runsOut: "Se agotan primero",
  runsOutHint: "Stock y mercancía en camino frente a la demanda prevista.",
  days: (days) => (days <= 0 ? "sin stock" : days === 1 ? "queda 1 día" : `quedan ${number(days)} días`),
  order: (quantity) => `pedir ${number(quantity)}`,
  nothingRunsOut: "Todos los productos alcanzan hasta su próxima entrega.",
  toReorder: "Reposición",
  lately: "Últimos cambios",
  nothingLately: "Nadie ha modificado un pedido todavía.",
  allActivity: "Toda la actividad",
  ofAssistants: (count) =>
    count === 0
      ? "Los asistentes no han cambiado nada desde ayer"
      : `Lo que hicieron los asistentes desde ayer (${number(count)})`,
  first: {
    title: "Cinco pasos hasta el primer pedido",
    more: "Y además",
    idle: "Todavía no hay pedidos. Cuando los haya, aquí verá qué hacer hoy.",
    done: "Hecho.",
    locations: "Añadir una ubicación",
    locationsHint: "El lugar al que llega la mercancía.",
    suppliers: "Añadir un proveedor",
    suppliersHint: "A quién compra y en qué condiciones.",
    products: "Añadir un producto",
    productsHint: "Lo que compra, con su SKU o código de barras.",
    prices: "Indicar cuánto cuesta el producto",
    pricesHint: "En la página del proveedor: busque allí el producto o pegue la lista del proveedor.",
    import: "Importarlo todo de un archivo",
    importHint: "CSV o JSON, de otros programas.",
    storefront: "Conectar la tienda online",
    storefrontHint:
      "Stock, productos y ventas llegan solos, y la mercancía recibida se envía de vuelta. También puede seguir sin ella.",
    people: "Invitar a su equipo",
    peopleHint: "Quien recibe, compra o solo consulta tiene un rol propio.",
    assistant: "Dar acceso a un asistente",
    assistantHint: "Prepara pedidos y hace seguimiento a los proveedores; usted ve todo lo que hace.",
    order: "Crear el primer pedido",
    orderHint: "Elija un proveedor y una ubicación. El resto es una sola lista.",
  },
});
