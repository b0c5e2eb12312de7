/** Texts of the page on which a person lets an assistant in. They are loaded with it. */
export const connectTexts = {
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
} as const;
