/** Who makes a change, as the activity log and events name it (contract §9). */

/**
 * - `api-key`: a program. `agent`: an API key on the agent surface.
 * - `user`: a person, or the operator.
 * - `supplier`: the supplier, whose proposal a person has accepted (C64).
 * - `system`: follow-on work.
 */
export const actorTypes = ["api-key", "agent", "user", "supplier", "system"] as const;
/** Kind of caller that makes a change. */
type ActorType = (typeof actorTypes)[number];

/** Who makes a change. */
export interface Actor {
  readonly type: ActorType;
  readonly id: string | null;
  readonly name: string | null;
  /**
   * The API key by which a person has signed in, also the one who has accepted a supplier's proposal (C49); absent or
   * null else.
   */
  readonly keyId?: string | null;
}

/** The API key by which somebody acts: their own, or the one that they have signed in with. */
export const keyOf = ({ type, id, keyId = null }: Actor): string | null =>
  type === "api-key" || type === "agent" ? id : keyId;
