/** Assistants that connect by the address, and what is copied for each. Their steps are texts (shop/connect.ts). */

export const clients = ["claude", "chatgpt", "claudeCode", "vscode", "cursor", "codex"] as const;

export type AssistantClient = (typeof clients)[number];

/** Text to copy for a client that takes more than the address; null for one that asks for it alone. */
export function snippetFor(client: AssistantClient, url: string): string | null {
  switch (client) {
    case "claudeCode":
      return `claude mcp add --transport http openpo ${url}`;
    case "codex":
      return `codex mcp add openpo --url ${url}`;
    case "vscode":
      return JSON.stringify({ servers: { openpo: { type: "http", url } } }, null, 2);
    case "cursor":
      return JSON.stringify({ mcpServers: { openpo: { url } } }, null, 2);
    case "claude":
    case "chatgpt":
      return null;
  }
}
