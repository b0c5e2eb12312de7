/** Texts of the page on which a person lets an assistant in. They are loaded with it. */
import { isolating } from "../../isolated.ts";
import type * as english from "../../en/shop/connect.ts";
import type { Translated } from "../../languages.ts";

export const connectTexts: Translated<typeof english.connectTexts> = isolating({
  title: (client) => `¿Dar acceso a su tienda a ${client}?`,
  asks: (client, host) => `${client} (${host}) pide permiso para trabajar en OpenPO en nombre de usted.`,
  undocumented:
    "Ese nombre se lo ha puesto la propia aplicación. Permita el acceso solo si acaba de iniciarlo desde un asistente que conoce.",
  inName: "En nombre de",
  shop: "Tienda",
  answerGoes: "La respuesta va a",
  places: {
    web: (host) => host,
    loopback: () => "un programa de este equipo",
    app: (scheme) => `una aplicación de este dispositivo (${scheme})`,
  },
  scope: "Qué puede hacer",
  scopes: {
    read: { name: "Leer", meaning: "Ve pedidos, proveedores, productos y stock, y no cambia nada." },
    propose: {
      name: "Leer y proponer",
      meaning:
        "Lo que quiere cambiar queda pendiente en Aprobaciones hasta que una persona lo apruebe, y entonces se hace.",
    },
    write: {
      name: "Leer y escribir",
      meaning: "También crea y modifica pedidos, igual que usted. Lo que hace se ve en Actividad.",
    },
  },
  ask: (scope) => `Pide: ${scope}.`,
  readOnly: "Su rol solo permite leer.",
  allow: "Permitir",
  deny: "Denegar",
  ends: "Los propietarios de la tienda pueden pausar o revocar el acceso en Asistentes y claves en cualquier momento.",
  gone: "Respuesta enviada. Puede cerrar esta página.",
  steps: {
    lead: "Un asistente que inicia sesión solo necesita esta dirección. Actúa en nombre de usted y no puede hacer más que usted.",
    assistant: "Asistente",
    names: {
      claude: "Claude",
      chatgpt: "ChatGPT",
      claudeCode: "Claude Code",
      vscode: "VS Code",
      cursor: "Cursor",
      codex: "Codex",
    },
    /** The two steps in the assistant. The third is here. */
    of: {
      claude: [
        "En la web o en la aplicación de escritorio: Customize, Connectors, +, Add custom connector. Escriba un nombre y la dirección. En un equipo, lo añade un propietario.",
        "Pulse Connect junto al conector. A partir de entonces también está en su teléfono.",
      ],
      chatgpt: [
        "En la web: Settings, Apps, Advanced settings: active Developer mode. En un espacio de trabajo, lo permite un administrador.",
        "Settings, Apps, Create app: un nombre, la dirección, OAuth. En un chat, elija la aplicación en +.",
      ],
      claudeCode: ["En la terminal:", "En Claude Code, escriba /mcp y elija openpo, Authenticate."],
      vscode: ["En .vscode/mcp.json:", "Pulse Start encima y deje que VS Code abra el navegador."],
      cursor: ["En ~/.cursor/mcp.json:", "En Cursor, en Customize (antes: Settings, MCP), inicie sesión en openpo."],
      codex: ["En la terminal:", "Si no se abre ningún navegador: codex mcp login openpo."],
    },
    here: "Llega usted aquí. Inicie sesión, compruebe quién pide acceso, elija qué puede hacer y pulse Permitir.",
    signIn: "La página para iniciar sesión",
    consent: "La página que indica quién pide acceso y qué puede hacer, con Permitir y Denegar",
    hosted: "Este asistente llega desde internet y solo acepta direcciones https; esta no lo es.",
    tried:
      "Los dos primeros pasos proceden de la documentación de los fabricantes de noviembre de 2026. Nadie los ha probado con OpenPO; el tercero se ha probado con el cliente del propio protocolo.",
  },
});
