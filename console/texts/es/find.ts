/** Texts of the search for everything, and of the list of keys. */
import { isolating } from "../isolated.ts";
import type * as english from "../en/find.ts";
import type { Translated } from "../languages.ts";

export const findTexts: Translated<typeof english.findTexts> = isolating({
  title: "Buscar o ejecutar",
  hint: "Pedidos, productos, proveedores, páginas, acciones",
  nothing: "No se ha encontrado nada.",
  groups: {
    actions: "Acción",
    places: "Ir a",
    orders: "Pedidos",
    products: "Productos",
    suppliers: "Proveedores",
    locations: "Ubicaciones",
  },
  newOrder: "Nuevo pedido",
  invite: "Invitar a alguien",
  keysHelp: "Atajos de teclado",
  dark: "Tema oscuro",
  light: "Tema claro",
  compact: "Filas compactas",
  comfortable: "Filas amplias",
  signOut: "Cerrar sesión",
  close: "Cerrar",
  keys: {
    title: "Atajos de teclado",
    rows: [
      ["Ctrl K, ⌘ K", "Buscar cualquier cosa o ejecutar una acción"],
      ["?", "Esta lista"],
      ["Ctrl B, ⌘ B", "Contraer o desplegar la barra lateral"],
      ["/", "Buscar en la lista"],
      ["N", "Nuevo pedido, desde la lista de pedidos"],
      ["X", "Seleccionar la fila de la lista; Mayús y clic seleccionan hasta ahí"],
      ["↑ ↓ ← →", "Moverse por líneas y previsiones"],
      ["Enter", "Editar una celda; guardarla y bajar"],
      ["Escape", "Descartar o cerrar"],
      ["Ctrl Z, ⌘ Z", "Deshacer lo último, mientras se ofrezca"],
      ["Espacio", "Marcar un producto para pedirlo"],
    ],
  },
});
