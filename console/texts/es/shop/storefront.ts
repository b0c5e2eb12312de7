/** Texts of the shop's storefront. They are loaded with the screen. */

import { isolating } from "../../isolated.ts";
import { number } from "../../../data/format.ts";
import type * as english from "../../en/shop/storefront.ts";
import type { Translated } from "../../languages.ts";
import { plural } from "../../plural.ts";

export const storefrontTexts: Translated<typeof english.storefrontTexts> = isolating({
  title: "Tienda online",
  why: "Solo los propietarios de la tienda gestionan la tienda online.",
  kinds: {
    sandbox: "Entorno de pruebas",
    shopify: "Shopify",
    medusa: "Medusa",
    none: "Ninguna: la tienda lleva su propio stock",
  },
  states: { sandbox: "Sin conectar", connected: "Conectada", failing: "Requiere atención" },
  sandbox:
    "Esta tienda usa el entorno de pruebas integrado: lo que se recibe y se pide llega a una tienda online simulada.",
  without: "Esta tienda no tiene tienda online: lleva su propio stock.",
  sandboxHint: "Conecte la tienda online en la que vende y traiga aquí sus productos, stock y ventas.",
  operators: {
    title: "La conexión corresponde al operador",
    lead: "Quien gestiona el servicio conecta y desconecta la tienda online. Envíele esta orden con la dirección real de la tienda online:",
    command: "Orden para el operador",
  },
  locked:
    "Tras recargar, esta página no tiene el token de administración. Indíquelo de nuevo para conectar o desconectar la tienda online.",
  unlock: "Continuar",
  facts: {
    store: "Tienda online",
    apiVersion: "Versión de su API",
    token: "Token de acceso",
    scopes: "Permisos",
    lastCall: "Última llamada",
    lastError: "Último error",
    backlog: "Pendiente de enviar",
    points: "Límite de uso",
  },
  token: {
    fixed: "no caduca",
    renewed: (until) => (until === null ? "se renueva solo" : `hasta el ${until}, se renueva solo`),
    until: (until) => `hasta el ${until}, no se renueva`,
  },
  noScopes: "Desconocidos: se conectó antes de que se guardaran",
  missing: (scopes, isNone) =>
    isNone
      ? `Sin ${scopes} no se cargan ventas. Añada los permisos a la aplicación en Shopify y vuelva a conectar.`
      : `Sin ${scopes} Shopify solo muestra las ventas de 60 días. Solicite el permiso a Shopify y vuelva a conectar.`,
  never: "Ninguna desde que se inició el servicio",
  noError: "Ninguno desde que se inició el servicio",
  backlog: (value) => plural(value, "cambio", "cambios"),
  points: (left, max) => `${number(left)} de ${number(max)} puntos disponibles`,
  pull: {
    title: "Productos, stock y ventas",
    lead: "Una carga trae ubicaciones, productos, el stock actual y un año de ventas. La primera lo trae todo; las siguientes, lo que ha cambiado.",
    none: "Todavía no se ha cargado nada.",
    noPull: "De esta tienda online no se puede cargar nada. Importe productos, stock y ventas de archivos.",
    first: "Cargar ahora",
    changes: "Cargar los cambios",
    everything: "Cargar todo de nuevo",
    again: "Cargar de nuevo",
    running: (step, index, of) => `Cargando: ${step}, paso ${index} de ${of}`,
    steps: {
      locations: "ubicaciones",
      variants: "productos",
      sweep: "lo eliminado",
      levels: "stock",
      sales: "ventas",
      settle: "demanda",
    },
    counts: {
      locations: "Ubicaciones",
      variants: "Productos y variantes",
      levels: "Niveles de stock",
      sales: "Pedidos de venta",
    },
    of: (value, total) => `${number(value)} de ${number(total)}`,
    done: (at) => `Última carga: ${at}.`,
    failed: (at) => `La carga del ${at} ha fallado:`,
    kept: "Lo que había traído hasta entonces está aquí; una nueva carga trae el resto.",
    retried: "Un intento ha fallado y se repite automáticamente:",
    deleted: (value) => `${plural(value, "variante eliminada", "variantes eliminadas")} en la tienda online:`,
    inactive: (value) =>
      `${plural(value, "variante ya no está", "variantes ya no están")} a la venta en la tienda online:`,
    goesOn: "Continúa aunque salga de esta página.",
  },
  products: {
    title: "Lo que hay aquí",
    lead: "Los primeros productos tal como llegaron. Compare algunos con el panel de la tienda online.",
    columns: { product: "Producto", sku: "SKU", onHand: "En stock", status: "Estado" },
    next: "Los proveedores y sus precios no vienen de la tienda online:",
    import: "impórtelos",
    reorder: "vea qué reponer",
  },
  webhooks: {
    title: "Cambios en la tienda online",
    states: { on: "Aviso inmediato", incomplete: "Avisos incompletos", off: "Solo mediante cargas" },
    on: "La tienda online avisa de los cambios de productos, stock y pedidos, que se cargan en aproximadamente un minuto.",
    at: (address) => `En ${address}`,
    ask: "Solicitar de nuevo a la tienda",
    asking: "Consultando la tienda online…",
  },
  connect: {
    title: "Conectar una tienda online",
    anew: "Volver a conectar, con otro token u otra tienda online",
    lead: "Se consulta a la tienda online al momento. Si falta algo, no se cambia nada y se indica qué falta.",
    platform: "Plataforma",
    way: "Secreto",
    ways: {
      credentials: "ID de cliente y secreto de una aplicación (los tokens se renuevan)",
      token: "Token de acceso de una aplicación personalizada (shpat_…)",
    },
    domain: { label: "Tienda online", hint: "Su propio dominio, como example.myshopify.com." },
    accessToken: { label: "Token de acceso", hint: "Se guarda cifrado y no se vuelve a mostrar." },
    clientId: { label: "ID de cliente", hint: "De la aplicación en el Dev Dashboard de Shopify, en su configuración." },
    clientSecret: { label: "Secreto de cliente", hint: "Se guarda cifrado y no se vuelve a mostrar." },
    hookSecret: {
      label: "Secreto de cliente (opcional)",
      hint: "Con él se pueden verificar los webhooks de la tienda online, y los cambios se avisan al momento.",
    },
    url: { label: "Dirección", hint: "Del propio servidor de Medusa, como https://medusa.example.com." },
    secretKey: {
      label: "Clave secreta de API",
      hint: "Empieza por sk_. Se guarda cifrada y no se vuelve a mostrar.",
    },
    scopes:
      "La aplicación necesita lectura y escritura de productos e inventario, read_locations y, para las ventas, read_orders o read_all_orders.",
    send: "Conectar",
    without: "Seguir sin tienda online",
    doneWithout: "La tienda lleva su propio stock.",
    asking: "Consultando la tienda online…",
    done: "La tienda online está conectada.",
  },
  disconnect: {
    action: "Desconectar",
    title: "¿Desconectar esta tienda online?",
    text: (account) =>
      `Lo que esta tienda ha anotado como entrante en ${account} se retira allí, se eliminan sus webhooks y la tienda sigue con el entorno de pruebas. Los productos, el stock y las ventas que se cargaron se quedan aquí. Mientras un envío de stock tenga un resultado desconocido, esto se rechaza.`,
  },
});
