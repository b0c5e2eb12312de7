/**
 * Roles of the people of a shop (C48): what each may ask for (C50, C51).
 */

/** From the least to the most: each may do everything that the one before it may. */
export const roles = ["viewer", "receiver", "purchaser", "owner"] as const;

/** Rights of a person (C50, C51). */
export type Role = (typeof roles)[number];

/** True if a person with this role may do what takes at least the role `least`. */
export const covers = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least);

/** The role of a person who has signed in with an API key of this scope (C49). */
export const roleOfScope = {
  read: "viewer",
  propose: "viewer",
  write: "purchaser",
} as const satisfies Record<"read" | "propose" | "write", Role>;

/** The lesser of two roles: nobody gets more from a key than the key may do. */
export const lesserRole = (one: Role, other: Role): Role => (covers(one, other) ? other : one);

/** The least role that may call an operation of the API. */
export const leastRole = ({
  scope,
  receiving,
  leastRole: least,
}: {
  readonly scope: "read" | "write";
  readonly receiving?: true;
  readonly leastRole?: Role;
}): Role => least ?? (scope === "read" ? "viewer" : receiving === true ? "receiver" : "purchaser");
