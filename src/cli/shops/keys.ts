/**
 * Commands on a shop's API keys: create, list, revoke.
 */
import { memberOf } from "../../base/json.ts";
import { asking } from "../command.ts";
import { shown, tableOf } from "../output.ts";

const keyColumns = {
  KEY: "keyId",
  NAME: "name",
  SCOPE: "scope",
  "LAST FOUR": "lastFour",
  CREATED: "createdAt",
  "LAST USED": "lastUsedAt",
  REVOKED: "revokedAt",
};

export const keyCreate = asking({
  name: "key create",
  summary: "create an API key, which is shown only now",
  options: {
    name: { value: "NAME", help: "what the key is for (required)" },
    scope: { value: "read|propose|write", help: "what the key may do (read)" },
    "no-sign-in": { value: null, help: "nobody signs in at the console with it: for agents", member: "signIn" },
  },
  operation: "key_create",
  input: (args) => ({
    name: args.required("name"),
    scope: args.text("scope") ?? "read",
    signIn: !args.flag("no-sign-in"),
  }),
  told: (data, { scope }) => [
    shown(memberOf(data, "apiKey")),
    `Key ${shown(memberOf(data, "keyId"))} (${shown(scope)}). It is not shown again.`,
  ],
});

export const keyList = asking({
  name: "key list",
  summary: "list the API keys of a shop, without their secrets",
  operation: "key_list",
  told: (data) => tableOf(data, "keys", keyColumns, "There are no keys."),
});

export const keyRevoke = asking({
  name: "key revoke",
  parameters: ["KEY_ID"],
  summary: "revoke an API key; its next request is refused",
  operation: "key_revoke",
  input: (args) => ({ keyId: args.parameter(0) }),
  told: (_data, { keyId }) => `Key ${shown(keyId)} is revoked.`,
});
