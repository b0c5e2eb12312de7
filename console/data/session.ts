/**
 * Who is signed in: the session's cookie is the browser's, the bearer that it buys is in this page's memory alone
 * (C49).
 *
 * Owns: signing in and out, and the bearer. Does not own: calls with it (client.ts).
 */
import { effect, signal } from "@preact/signals";
import type { ErrorDetails } from "../../client/index.ts";
import type { Language } from "../texts/languages.ts";
import { todayIn } from "./format.ts";

/** Who is signed in, where. */
export interface Session {
  readonly person: {
    readonly personId: string | null;
    readonly name: string;
    readonly role: Role;
    /** Language that the person has chosen; null: none. */
    readonly language: Language | null;
  };
  readonly shop: {
    readonly shopId: string;
    readonly name: string;
    readonly currencyCode: string;
    readonly timezone: string;
    /** More days without a confirmation are too many; 0: none are. */
    readonly unconfirmedDays: number;
    /** The platform that the shop is connected to, by its name; null: it keeps its products and stock itself. */
    readonly storefront: string | null;
    /** False: there is nothing, not even a sandbox, that stock is pushed to. */
    readonly hasStorefront: boolean;
    /** People's writes may need a decision too. */
    readonly hasApprovalRules: boolean;
    /** Of the shop's newest event when the bearer was bought: whatever is read with it is not older. */
    readonly lastSequence: number;
  };
}

/** From the least to the most: each may do everything that the one before it may. */
export const roles = ["viewer", "receiver", "purchaser", "owner"] as const;

export type Role = (typeof roles)[number];

/** A shop that the operator may choose. */
export interface ShopChoice {
  readonly shopId: string;
  readonly name: string | null;
}

/** State of the page's session. */
type SessionState =
  | { readonly kind: "unknown" }
  /**
   * `ended`: the session that has ended while its screen was shown; what was typed in it is kept until somebody signs
   * in.
   */
  | { readonly kind: "signed-out"; readonly ended: Session | null }
  | { readonly kind: "choose-shop"; readonly shops: readonly ShopChoice[] }
  | { readonly kind: "signed-in"; readonly session: Session };

export const sessionState = signal<SessionState>({ kind: "unknown" });

/** The session whose screens are there, though it may have ended meanwhile; null without one. */
export function signedIn(): Session | null {
  const state = sessionState.value;
  if (state.kind === "signed-in") return state.session;
  return state.kind === "signed-out" ? state.ended : null;
}

/**
 * True if the session has ended below its screen: the focus leaves the field in which somebody types, and they have not
 * left it.
 */
export const hasEnded = (): boolean => sessionState.value.kind === "signed-out" && sessionState.value.ended !== null;

/** The shop's day, as `YYYY-MM-DD`. */
export const today = (): string => todayIn(signedIn()?.shop.timezone ?? "UTC");

/** The shop in which the page works; empty before somebody is signed in. */
export const shopId = (): string => signedIn()?.shop.shopId ?? "";

/** Currency of the shop; `XXX`, which is none, without one. */
export const shopCurrency = (): string => signedIn()?.shop.currencyCode ?? "XXX";

/** True if the shop pushes its stock somewhere, so that its orders are synced or not. */
export const hasStorefront = (): boolean => signedIn()?.shop.hasStorefront === true;

/** The platform that says what some fields of records are; null: none does. */
export const platform = (): string | null => signedIn()?.shop.storefront ?? null;

/** True if what a person does to an order may need somebody's decision. */
export const hasApprovalRules = (): boolean => signedIn()?.shop.hasApprovalRules === true;

/** True if the person who is signed in has at least this role. */
export function hasRole(least: Role): boolean {
  const role = signedIn()?.person.role;
  return role !== undefined && roles.indexOf(role) >= roles.indexOf(least);
}

/** A refusal of the service, in the words that it says. */
export interface Refused {
  readonly message: string;
  readonly action: string | null;
  readonly code?: string;
  /** Faults, item by item. */
  readonly details?: ErrorDetails;
  /** The message is in the language of the page, for each of its faults has words. */
  readonly isInWords?: true;
}

/** Words for mistakes and advice; null until the first answer has any, for they are loaded then. */
let words: typeof import("../parts/fields/faults.ts") | null = null;

/** Without them a mistake is told as the service says it. */
async function loadWords(): Promise<void> {
  words ??= await import("../parts/fields/faults.ts").catch(() => null);
}

/** The answer, when the words that it may need are there. */
export async function withWords(answer: Response): Promise<Response> {
  // A call that finds that its bearer has ended is sent again.
  if (answer.status >= 400 && answer.status !== 401) await loadWords();
  return answer;
}

/** The refusal, its mistakes and advice in the person's words where there are any. */
export const inWords = <Told extends Refused>(told: Told): Told => words?.inWords(told) ?? told;

/** A mistake that an answer tells of a part of what was asked for. */
export async function faultInWords(message: string): Promise<string> {
  await loadWords();
  return words?.faultIn(message) ?? message;
}

interface TokenAnswer {
  readonly token: string | null;
  readonly person: Session["person"];
  readonly shop: Session["shop"] | null;
  readonly shops?: readonly ShopChoice[];
}

let bearer: string | null = null;
let renewing: Promise<string | null> | null = null;
let chosenShop: string | null = null;
/** Why the latest bearer that was asked for was refused. */
let tokenRefused: Refused | null = null;

/** The token that the operator has typed into this page, in its memory alone; null after a reload. */
export const operatorToken = signal<string | null>(null);

/** Asks the console's own part of the service. */
export async function send(
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await withWords(
    await fetch(`/console/${path}`, {
      method,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body) ?? null,
    }),
  );
  return { status: response.status, body: await response.json() };
}

/** A member of an answer; undefined where there is none. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? new Map(Object.entries(value)).get(name) : undefined;

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

// The service's tests hold what it answers; a page does not validate it again.
const isTokenAnswer = (value: unknown): value is TokenAnswer => member(value, "person") !== undefined;

/** Buys a bearer with the cookie. Calls at the same time share one. @returns null when nobody is signed in. */
export function renewBearer(): Promise<string | null> {
  renewing ??= askForBearer().finally(() => (renewing = null));
  return renewing;
}

/**
 * The same, and never by a call that was sent before now: the service may have answered that before what has changed.
 */
async function fetchBearer(): Promise<string | null> {
  await renewing?.catch(() => null);
  return await renewBearer();
}

async function askForBearer(): Promise<string | null> {
  const { status, body } = await send("POST", "token", chosenShop === null ? {} : { shopId: chosenShop });
  const data = member(body, "data");
  tokenRefused = status === 200 ? null : refusedOf(body);
  if (status !== 200 || !isTokenAnswer(data)) {
    bearer = null;
    if (status === 401 && !hasEnded()) sessionState.value = { kind: "signed-out", ended: signedIn() };
    return null;
  }
  bearer = data.token;
  if (data.shop !== null) sessionState.value = { kind: "signed-in", session: { person: data.person, shop: data.shop } };
  else sessionState.value = { kind: "choose-shop", shops: data.shops ?? [] };
  return bearer;
}

/** The bearer of this page; bought when there is none. */
export const currentBearer = async (): Promise<string | null> => bearer ?? (await renewBearer());

/**
 * Waits, when the session has ended below its screen, until somebody has signed in.
 *
 * @returns the bearer of the same person; null when another one has signed in, or nobody is waited for.
 */
export function bearerOfSamePerson(signal: AbortSignal | null): Promise<string | null> {
  const state = sessionState.peek();
  if (state.kind !== "signed-out" || state.ended === null) return Promise.resolve(null);
  const { person, shop } = state.ended;
  return new Promise((resolve) => {
    const end = (found: string | null): void => {
      signal?.removeEventListener("abort", stop);
      resolve(found);
      queueMicrotask(unfollow);
    };
    const stop = (): void => end(null);
    const unfollow = effect(() => {
      const now = sessionState.value;
      if (now.kind === "signed-out") return;
      const isSame =
        now.kind === "signed-in" &&
        now.session.person.personId === person.personId &&
        now.session.shop.shopId === shop.shopId;
      end(isSame ? bearer : null);
    });
    signal?.addEventListener("abort", stop);
  });
}

/** The operator names the shop to work in. */
export async function chooseShop(shopId: string): Promise<void> {
  chosenShop = shopId;
  await fetchBearer();
}

/** The operator works in no shop any more, and may choose another. */
export async function leaveShop(): Promise<void> {
  chosenShop = null;
  await fetchBearer();
}

/** Signs in. @returns why not; null when it worked. */
export async function signIn(
  credential: Readonly<Partial<Record<"invitation" | "link" | "adminToken" | "apiKey" | "name", string>>> & {
    readonly passkey?: object;
  },
): Promise<Refused | null> {
  const { status, body } = await send("POST", "session", credential);
  if (status === 201) {
    if (credential.adminToken !== undefined) operatorToken.value = credential.adminToken;
    await fetchBearer();
    return tokenRefused;
  }
  return refusedOf(body);
}

const areDetails = (value: unknown): value is ErrorDetails => Array.isArray(value);

/** The refusal in an answer. */
export function refusedOf(body: unknown): Refused {
  const error = member(body, "error");
  const code = textOf(member(error, "code"));
  const details = member(error, "details");
  return inWords({
    message: textOf(member(error, "message")) ?? "",
    action: textOf(member(error, "action")),
    ...(code === null ? {} : { code }),
    ...(areDetails(details) ? { details } : {}),
  });
}

/** Signs out here, or ends the person's sessions on all devices. */
export async function signOut({ everywhere = false } = {}): Promise<void> {
  await send("DELETE", everywhere ? "sessions" : "session", {});
  bearer = null;
  chosenShop = null;
  operatorToken.value = null;
  sessionState.value = { kind: "signed-out", ended: null };
}
