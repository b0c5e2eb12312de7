/** Texts of approval requests. They are loaded with what shows them. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/approvals.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const requests = (count: number): string => plural(count, "solicitud", "solicitudes");

export const approvalTexts: Translated<typeof english.approvalTexts> = isolating({
  title: "Aprobaciones",
  back: "Aprobaciones",
  status: "Mostrar",
  statuses: {
    pending: "Pendiente",
    all: "Todas",
    approved: "Aprobada",
    rejected: "Rechazada",
    withdrawn: "Retirada",
    expired: "Caducada",
    overtaken: "Desactualizada",
    failed: "Fallida",
  },
  shown: (count, total) => `${number(count)} de ${requests(total)}`,
  more: "Cargar más",
  yours: "Decide usted",
  others: "Deciden otras personas",
  empty: "No hay nada por aprobar.",
  emptyOther: "No hay solicitudes de este tipo.",
  emptyHint:
    "Aquí espera, hasta que una persona lo apruebe, lo que un asistente solo puede proponer, lo que supera sus límites y los pedidos que cumplen una regla de la tienda.",
  toKeys: "Dar a una clave el permiso Proponer",
  toRules: "Definir reglas",
  moves: (order, status) => `${order}: pasar a ${status}`,
  asks: (who) => `Solicita: ${who}`,
  asked: "Solicitado por",
  inNameOf: (name) => `en nombre de ${name}`,
  byKey: (keyId) => `clave ${keyId}`,
  askedAt: "Solicitado el",
  until: "Espera hasta el",
  supplier: "Proveedor",
  value: "Importe",
  order: "Pedido",
  why: "Por qué necesita aprobación",
  causes: {
    scope: "La clave solo permite proponerlo.",
    rule: (name) => `Regla «${name}».`,
    supplierIds: "La clave no permite pedir a este proveedor.",
    locationIds: "La clave no permite pedir para esta ubicación.",
    orderValueMax: "Un pedido",
    dayValueMax: "Pedidos de un día",
    monthValueMax: "Pedidos de un mes",
    limit: (of, allowed) => `${of}: ${allowed} como máximo`,
    used: (used) => `ya usado: ${used}`,
    adds: (asked) => `se solicita: ${asked}`,
    unpriced: "falta un tipo de cambio",
    rise: (allowed, asked) =>
      `Un costo unitario puede subir un ${number(allowed)}\u00a0% como máximo; ${asked === null ? "no se conoce el anterior" : `aquí uno sube un ${number(asked)}\u00a0%`}.`,
  },
  cover: "Stock y cobertura",
  stock: (onHand, incoming) => `${onHand} en stock, ${incoming} en camino`,
  days: (before, after) =>
    before === null || after === null
      ? "Sin ventas"
      : `Cobertura: ${number(Math.floor(before))} → ${number(Math.floor(after))} días`,
  what: "Lo que cambiará",
  wouldHave: "Lo que habría cambiado",
  changed: "Lo que ha cambiado",
  reason: "Motivo",
  noFields: "No se indica ningún campo concreto.",
  lines: "Lo que se pide",
  moreLines: (count) => `y ${number(count)} más`,
  comment: "Comentario",
  commentHint: "Lo lee quien lo ha solicitado.",
  approve: (count) => (count === 1 ? "Aprobar" : `Aprobar ${number(count)}`),
  reject: (count) => (count === 1 ? "Rechazar" : `Rechazar ${number(count)}`),
  withdraw: "Retirar solicitud",
  tick: (title) => `Elegir ${title}`,
  ticked: (count) => plural(count, "elegida", "elegidas"),
  working: "Un momento…",
  othersDecide: "Esta solicitud no la puede decidir usted.",
  needs: "Primero necesita aprobación",
  askToSend: "Solicitar permiso para enviar",
  ask: "Solicitar aprobación",
  ofOrder: "Espera aprobación",
  see: "Ver qué cambiará",
  became: {
    approved: (who) => `Aprobado por ${who} y realizado.`,
    rejected: (who) => `Rechazado por ${who}. No se ha hecho nada.`,
    withdrawn: (who) => `Retirado por ${who}. No se ha hecho nada.`,
    expired: () => "Nadie decidió a tiempo. No se ha hecho nada.",
    overtaken: (who) =>
      `Aprobado por ${who}, pero el pedido había cambiado y el resultado ya habría sido otro. No se ha hecho nada.`,
    failed: (who) => `Aprobado por ${who}, pero entonces ya no era posible. No se ha hecho nada.`,
  },
  shownThen: "Lo que se solicitó",
  shownNow: "Lo que se habría hecho al aprobarlo",
});
