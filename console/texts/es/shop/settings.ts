/** Texts of a shop's settings, for its owners and for the operator. They are loaded with the screens. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/settings.ts";
import type { Translated } from "../../languages.ts";

const zeroTo = (most: number): string => `De 0 a ${number(most)}`;

export const settingsTexts: Translated<typeof english.settingsTexts> = isolating({
  title: "Configuración",
  why: "Solo los propietarios de la tienda cambian la configuración.",
  views: { shop: "Tienda", approvals: "Aprobaciones", documents: "Documentos" },
  lead: "Cómo trabaja esta tienda. Lo que cambie vale para todos, también para los agentes, desde la siguiente solicitud.",
  formOf: (name) => `Configuración de ${name}`,
  groups: {
    shop: "Tienda",
    receiving: "Recepción y tienda online",
    sending: "Envío",
    money: "Monedas",
    service: "Servicio",
    waiting: "Esperas",
  },
  settings: {
    name: { label: "Nombre de la tienda", hint: "Como lo ven las personas y los agentes." },
    autoSyncOnReceiving: {
      label: "Enviar stock al recibir mercancía",
      hint: "Desactivado: la mercancía recibida se queda aquí hasta que alguien la sincronice.",
    },
    emailOnSent: {
      label: "Enviar el pedido por correo al marcarlo como enviado",
      hint: "A la dirección del proveedor, con el PDF, y con un enlace para responder si está definida la dirección pública del servicio. Requiere un servidor de correo.",
    },
    replyTo: {
      label: "Las respuestas a los correos van a",
      hint: "Una dirección suya, como compras@tienda.example. Vacío: a la persona que envía el pedido.",
    },
    unconfirmedDays: {
      label: "Plazo de confirmación del proveedor (días)",
      hint: `Los pedidos que esperan más se marcan y se avisa a los webhooks. ${zeroTo(365)}; 0: ninguno.`,
    },
    costSyncMode: {
      label: "Costos al completar",
      hint: "Lo que se escribe en la tienda online como costo unitario de un producto.",
    },
    onOrderTag: {
      label: "Etiqueta de productos pedidos",
      hint: "Los productos que están pedidos la llevan en la tienda online. Vacío: ninguna.",
    },
    followOnWaitMs: {
      label: "Espera de tareas posteriores (ms)",
      hint: `Cuánto espera un guardado a stock, etiquetas y correo antes de indicar que siguen en curso. ${zeroTo(300_000)}; valor inicial: ${number(2_000)}.`,
    },
    confirmationWaitMs: {
      label: "Espera de confirmación (ms)",
      hint: `Cuánto se espera, al sincronizar o completar, a que la tienda online muestre el nuevo stock. ${zeroTo(300_000)}; valor inicial: ${number(30_000)}.`,
    },
    restApi: { label: "API REST en el plan", hint: "Desactivado: se rechaza a las claves, no a las personas." },
    capacity: {
      label: "Solicitudes a la vez",
      hint: "Cuántas pueden llegar juntas: de todas las claves y, aparte, de todas las personas.",
    },
    refillPerSecond: { label: "Solicitudes por segundo", hint: "Cuántas pueden llegar de forma continua." },
    auditRetentionDays: {
      label: "Conservar el registro de auditoría (días)",
      hint: "Las solicitudes de la actividad. 0: para siempre. No menos días de los que fija el operador.",
    },
    auditRetentionFloorDays: {
      label: "Conservar el registro de auditoría al menos (días)",
      hint: "El mínimo que pueden fijar los propietarios. Valor inicial: 30.",
    },
    timezone: {
      label: "Zona horaria",
      hint: "Determina cuándo empieza el día. De la base de datos IANA, como Europe/Amsterdam.",
    },
  },
  costSyncModes: {
    "unit-cost": "Costo unitario del pedido",
    "moving-average": "Promedio móvil",
    disabled: "No se escribe",
  },
  rates: {
    title: "Tipos de cambio",
    hint: (shopCurrency) => `Los pedidos en otra moneda se convierten a ${shopCurrency} con estos tipos.`,
    currency: "Moneda",
    rate: (currency, shopCurrency) => `1 ${currency === "" ? "…" : currency} en ${shopCurrency}`,
    remove: (currency) => (currency === "" ? "Quitar" : `Quitar ${currency}`),
    add: "Añadir un tipo",
    notNumber: (currency) => `El tipo de ${currency === "" ? "una moneda" : currency} debe ser un número.`,
    noCurrency: "Hay un tipo sin moneda.",
    twice: (currency) => `${currency} aparece dos veces.`,
  },
  approvals: {
    lead: "Un pedido que cumple una regla se envía cuando alguien indicado en la regla lo aprueba. Vale la primera regla que cumple.",
    rules: "Reglas",
    none: "Todavía no hay reglas: quien puede enviar un pedido lo envía.",
    name: { label: "Nombre", hint: `Así lo lee quien solicita: «Más de ${number(1_000)}».` },
    totalAbove: (currency) => ({ label: `Total superior a (${currency})`, hint: "Vacío: cualquier total." }),
    suppliers: "Solo de estos proveedores",
    locations: "Solo para estas ubicaciones",
    anyPlace: "Cualquiera",
    actors: { label: "Enviado por", any: "Cualquiera", agents: "Agentes y programas", people: "Personas" },
    roles: "Quién aprueba",
    people: "Y estas personas",
    nobody: "Elija un rol o una persona.",
    remove: (name) => `Quitar ${name === "" ? "la regla" : name}`,
    add: "Añadir una regla",
    rest: "Todo lo demás",
    approverRoles: "Quién decide lo que no cubre ninguna regla",
    approveOwnAgents: {
      label: "Se puede aprobar lo que piden los agentes propios",
      hint: "Nadie aprueba sus propias solicitudes.",
    },
    approvalMails: {
      label: "Avisar por correo a quienes pueden decidir",
      hint: "Personas con dirección de correo, si el servicio envía correos. Un segundo correo en menos de 15 minutos espera a lo que llegue después.",
    },
    approvalDays: {
      label: "Una solicitud espera (días)",
      hint: "Después termina y no se hace nada. De 1 a 90.",
    },
  },
  ofOperator: {
    title: "Definido por el operador del servicio",
    currency: "Moneda de la tienda",
    storefront: "Tienda online",
    restApi: "API REST",
    restApiOn: "en el plan: las claves pueden llamarla",
    restApiOff: "no está en el plan: se rechaza a las claves",
    rate: "Solicitudes",
    rateOf: (perSecond, atOnce) => `${perSecond} por segundo, ${atOnce} a la vez`,
  },
  notNumber: "debe ser un número",
  save: "Guardar",
  saved: "Guardado.",
});
