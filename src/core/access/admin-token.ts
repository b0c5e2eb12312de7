/**
 * The operator's token: whether a text is it.
 */
import { createHash, timingSafeEqual } from "node:crypto";

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Makes the check of the token. It compares in constant time, whatever the lengths. */
export function adminTokenCheck(adminToken: string): (text: string) => boolean {
  const expected = digest(adminToken);
  return (text) => timingSafeEqual(digest(text), expected);
}
