/** Texts of the page on which a person lets an assistant in. They are loaded with it. */
import { isolating } from "../../isolated.ts";

export const connectTexts = isolating({
  title: (client: string) => `Let ${client} into your shop?`,
  asks: (client: string, host: string) => `${client} (${host}) asks to work in OpenPO in your name.`,
  undocumented: "It says this name of itself. Allow it only if you have just begun this in an assistant that you know.",
  inName: "In the name of",
  shop: "Shop",
  answerGoes: "The answer goes to",
  places: {
    web: (host: string) => host,
    loopback: () => "a program on this computer",
    app: (scheme: string) => `an app on this device (${scheme})`,
  },
  scope: "What it may do",
  scopes: {
    read: { name: "Read", meaning: "It sees orders, suppliers, products and stock, and changes nothing." },
    propose: {
      name: "Read and propose",
      meaning: "What it wants to change waits for a person under Approvals, and is done when somebody approves it.",
    },
    write: {
      name: "Read and write",
      meaning: "It also creates and changes orders, as you can. What it does is shown under Activity.",
    },
  },
  ask: (scope: string) => `It asks for: ${scope}.`,
  readOnly: "Your role gives reading only.",
  allow: "Allow",
  deny: "Deny",
  ends: "Owners of the shop pause or revoke it under Keys at any time.",
  gone: "Answered. You can close this page.",
  steps: {
    lead: "An assistant that signs in needs this address alone. It acts in your name, with no more than you may do.",
    assistant: "Assistant",
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
        "On the web or the desktop: Customize, Connectors, +, Add custom connector. Type a name and the address. In a team an owner of it adds it.",
        "Press Connect beside it. Your phone has it too from then on.",
      ],
      chatgpt: [
        "On the web: Settings, Apps, Advanced settings: turn Developer mode on. In a workspace an admin allows it.",
        "Settings, Apps, Create app: a name, the address, OAuth. In a chat, choose it under +.",
      ],
      claudeCode: ["In a terminal:", "In Claude Code, type /mcp and choose openpo, Authenticate."],
      vscode: ["In .vscode/mcp.json:", "Press Start above it, and let VS Code open the browser."],
      cursor: ["In ~/.cursor/mcp.json:", "In Cursor, under Customize (older: Settings, MCP), sign in to openpo."],
      codex: ["In a terminal:", "If no browser opens: codex mcp login openpo."],
    },
    here: "You come here. Sign in, look who asks, choose what it may do, and press Allow.",
    signIn: "The page to sign in",
    consent: "The page that says who asks, with what it may do, Allow and Deny",
    hosted: "It comes from the internet and takes an https address only, which this is not.",
    tried:
      "The first two steps are from the makers' documentation of November 2026. Nobody has tried them with OpenPO; the third was tried with the protocol's own client.",
  },
} as const);
