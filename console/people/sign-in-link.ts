/** Links to sign in by that are mailed: asking for one, and where the page goes on after it was opened (C49). */
import { type Refused, refusedOf, send } from "../data/session.ts";
import { placeIn } from "./typed.ts";

/** True if the service mails links. The page says so itself: nobody is signed in who could ask. */
export const linksAreMailed = document.documentElement.dataset["signIn"] === "link";

/** Name under which this browser keeps the place where a link was asked for. */
const placeName = "openpo-return";

/** Asks for a link, and keeps the place for whoever opens it here. @returns why not; null when it is asked for. */
export async function askForLink(email: string): Promise<Refused | null> {
  const { status, body } = await send("POST", "sign-in-link", { email });
  if (status !== 202) return refusedOf(body);
  localStorage.setItem(placeName, `${Date.now()} ${location.pathname}${location.search}`);
  return null;
}

/** True if this browser has asked for a link lately, and goes on where it did. */
export const hasAskedHere = (): boolean => placeIn(localStorage.getItem(placeName), Date.now()) !== null;

/** Takes the place where this browser has asked for a link lately; null without one. It is always in the console. */
export function takePlace(): string | null {
  const kept = localStorage.getItem(placeName);
  localStorage.removeItem(placeName);
  return placeIn(kept, Date.now());
}
