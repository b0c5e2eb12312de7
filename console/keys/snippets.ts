/** Connections of agents and programs with a key: the forms of the README. */
import { texts } from "../texts/en/texts.ts";

interface Snippet {
  readonly name: string;
  readonly text: string;
}

/** @param origin  the service's address, as `https://openpo.example.com`. */
export const snippetsFor = (origin: string, apiKey: string): readonly Snippet[] => {
  const url = `${origin}/mcp`;
  const server = { type: "http", url, headers: { Authorization: `Bearer ${apiKey}` } };
  return [
    {
      name: texts.keys.snippets.claude,
      text: `claude mcp add --transport http openpo ${url} --header "Authorization: Bearer ${apiKey}"`,
    },
    {
      name: texts.keys.snippets.vscode,
      text: [`// .vscode/mcp.json`, JSON.stringify({ servers: { openpo: server } }, null, 2)].join("\n"),
    },
    {
      name: texts.keys.snippets.codex,
      text: [
        "# ~/.codex/config.toml",
        "[mcp_servers.openpo]",
        `url = "${url}"`,
        'bearer_token_env_var = "OPENPO_KEY"',
        "",
        "# in the shell that starts Codex",
        `export OPENPO_KEY="${apiKey}"`,
      ].join("\n"),
    },
    {
      name: texts.keys.snippets.curl,
      text: `curl -H "Authorization: Bearer ${apiKey}" "${origin}/api/v1/purchase-orders?limit=5"`,
    },
  ];
};
