/** Texts of a supplier's link and of what suppliers have answered, which load with the order. */
import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/order/supplier.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

const lines = (count: number): string => plural(count, "línea", "líneas");

export const supplierTexts: Translated<typeof english.supplierTexts> = isolating({
  title: "Respuesta del proveedor",
  waiting: "Hay respuestas de proveedores",
  more: (count) => `y ${number(count)} más`,
  answered: (name, at) => `${name} respondió el ${at}`,
  somebody: "El proveedor",
  waits: "Aún no ha cambiado nada. Acepte lo que convenga; el resto queda como está.",
  overtaken:
    "El pedido ha cambiado desde entonces. Las líneas desactualizadas no se pueden aceptar; pida al proveedor que responda de nuevo.",
  columns: { order: "En el pedido" },
  accept: "Aceptar todo",
  acceptSome: (count) => `Aceptar ${lines(count)}`,
  reject: "Rechazar",
  rejectTitle: "¿Rechazar esta respuesta?",
  rejectText: "El pedido queda como está. El proveedor puede responder de nuevo con el mismo enlace.",
  choose: (name) => `Aceptar ${name}`,
  quantity: (value) => `${value} (confirmado)`,
  unconfirmed: (value) => `${value} (sin confirmar)`,
  expected: (date) => `previsto el ${date}`,
  noDate: "sin fecha",
  cannot: "no se puede entregar",
  state: { open: "", overtaken: "Desactualizada", accepted: "Aceptada" },
  gone: "una línea que ya no existe",
  reference: (value) => `Número del proveedor: ${value}`,
  tracking: (value) => `Número de seguimiento: ${value}`,
  earlier: "Respuestas anteriores",
  earlierOf: {
    open: "abierta",
    overtaken: "desactualizada",
    accepted: "aceptada",
    rejected: "rechazada",
    replaced: "sustituida por una más reciente",
  },
  by: (name) => `por ${name}`,
  link: "Enlace para el proveedor",
  linkHelp: "Con un enlace, el proveedor ve este pedido, lo descarga y responde, sin iniciar sesión.",
  make: "Crear un enlace",
  made: "Enlace para el proveedor",
  madeLabel: "Enlace",
  madeHint: (until) => `Funciona hasta el ${until}. Quien lo tenga ve este pedido.`,
  until: (until, who) => `Funciona hasta el ${until}${who === null ? "" : ` · creado por ${who}`}`,
  revoke: "Revocar",
  revokeOf: (until) => `Revocar el enlace que funciona hasta el ${until}`,
  noLinks: "Ahora no hay ningún enlace.",
});
