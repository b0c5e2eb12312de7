/** Scopes of keys and connections, from the least to the most. */
import type { Output } from "../../client/index.ts";

export type KeyScope = Output<"key_create">["scope"];

export const keyScopes = ["read", "propose", "write"] as const satisfies readonly KeyScope[];

/** The scope that a field of a form has; the least where it has none. */
export const scopeNamed = (value: string): KeyScope => keyScopes.find((scope) => scope === value) ?? "read";
