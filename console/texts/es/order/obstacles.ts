/** Spanish texts for why something cannot be done with an order now. They load with the order. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/order/obstacles.ts";
import type { Translated } from "../../languages.ts";

export const obstacleTexts: Translated<typeof english.obstacleTexts> = isolating({
  role: "Su rol no lo permite. Un propietario puede cambiar su rol.",
  "send-first": "Primero marque el pedido como enviado.",
  "confirm-first": "Primero confirme el pedido.",
  "begin-first": "Primero ponga el pedido en curso.",
  "receive-first": "Primero reciba la mercancía.",
  received: "Ya hay mercancía registrada. Corríjala en la pantalla de recepción.",
  "move-back": "Primero devuelva el pedido a un estado anterior.",
  reopen: "Primero reabra el pedido.",
  held: "Primero reanude el pedido.",
  "use-complete": "Ya se ha recibido mercancía: complete el pedido.",
  "cancel-first": "Solo se pueden eliminar borradores y pedidos cancelados. Primero cancele el pedido.",
  "delete-instead": "Un borrador se elimina.",
  "draft-only": "Solo se pueden combinar borradores.",
});
