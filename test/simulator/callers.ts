/** Who asks in a simulation: API keys of different kinds, a person, and the operator. */
import { makeApiKey } from "../../src/core/access/api-key.ts";
import type { SignedIn } from "../../src/requests/caller.ts";
import { operatorHere } from "../../src/requests/sessions.ts";
import type { CallerKind } from "../world/approvals.ts";
import type { Key } from "../world/client.ts";
import { randomOf } from "../world/random.ts";

/** Who may ask something of a shop: its keys, a person and the operator. */
const kinds = ["write", "write", "propose", "limited", "person", "operator"] as const satisfies readonly CallerKind[];

/** Callers of these kinds, as a request names them. */
export const callersOf = (...wanted: readonly CallerKind[]): readonly number[] =>
  kinds.flatMap((kind, index) => (wanted.includes(kind) ? index : []));

/** The callers of a shop, the same in every simulation. */
export const keysOf = (
  shopId: string,
): readonly (Key & ReturnType<typeof makeApiKey> & { readonly kind: CallerKind })[] =>
  kinds.map((kind, index) => {
    const bytes = Buffer.alloc(32);
    randomOf(`key ${shopId} ${index}`).fill(bytes);
    const keyId = kind === "operator" ? kind : `key_${shopId}_${index}`;
    const bearer = kind === "person" || kind === "operator" ? { apiKey: `${kind}.${shopId}` } : {};
    return { keyId, kind, ...makeApiKey(shopId, bytes), ...bearer };
  });

/** Who sends this and no API key, signed in at a shop. Null: nobody. */
export function signedInWith(bearer: string | null): { readonly shopId: string; readonly person: SignedIn } | null {
  const [kind, shopId = ""] = bearer?.split(".") ?? [];
  if (kind === "operator") return { shopId, person: operatorHere };
  const person = keysOf(shopId).find((each) => each.kind === "person");
  if (kind !== "person" || person === undefined) return null;
  return { shopId, person: { personId: person.keyId, name: "Anna", role: "owner", keyId: null } };
}
