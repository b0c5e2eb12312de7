/** Signing in: by a passkey, a link of an invitation or a mail, a key of the shop, or the operator's token. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedSubmitEvent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { unreachable } from "../data/client.ts";
import { field } from "../data/form.ts";
import { type Refused, renewBearer, signIn } from "../data/session.ts";
import { Mark } from "../parts/icon.tsx";
import { lazy } from "../parts/lazy.tsx";
import { LanguageField } from "../parts/frame/language-field.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { go } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { askForLink, hasAskedHere, linksAreMailed, takePlace } from "./sign-in-link.ts";
import { credentialOf, secretIn, type Typed } from "./typed.ts";

/**
 * Signing in again, laid over the screen of a session that has ended: it hides the screen, which keeps what was typed.
 * Whoever opens a link in another tab is signed in here too.
 */
export const SignInAgain: FunctionComponent = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    // Closing gives the focus back to where it was.
    return () => current?.close();
  }, []);
  useLayoutEffect(() => {
    // Escape would close the dialog for a moment, in which the next one gives up what is typed below.
    const stay = (event: KeyboardEvent): void => {
      if (event.key === "Escape") event.preventDefault();
    };
    document.addEventListener("keydown", stay);
    return () => document.removeEventListener("keydown", stay);
  }, []);
  return (
    <dialog
      ref={dialog}
      class="whole-page"
      aria-label={texts.signIn.title}
      onClose={() => {
        // A browser has other ways to close it, such as the way back of a telephone.
        if (dialog.current?.isConnected === true) dialog.current.showModal();
      }}
    >
      <SignInScreen lead={texts.signIn.signedOut} />
    </dialog>
  );
};

const words = texts.signIn;

const PasskeyButton = lazy(async () => (await import("./people.tsx")).PasskeyButton, { isQuiet: true });

export const SignInScreen: FunctionComponent<{ readonly lead?: string | undefined }> = ({ lead }) => {
  const refused = useSignal<Refused | null>(null);
  const opened = useSignal(secretIn(location.hash));
  /** The e-mail to which a link was asked for. */
  const mailedTo = useSignal<string | null>(null);

  const say = async (doing: Promise<Refused | null>): Promise<void> => {
    refused.value = await doing.catch(() => unreachable);
  };

  const enter: Enter = async ({ kind, credential }, name) => {
    if (kind === "unknown") {
      refused.value = words.unknown;
      return;
    }
    const sending =
      kind === "email"
        ? askForLink(credential)
        : signIn({ [kind]: credential, ...(kind === "apiKey" ? { name } : {}) });
    await say(sending);
    opened.value = null;
    if (refused.value !== null) return;
    if (kind === "email") mailedTo.value = credential;
    const place = kind === "link" ? takePlace() : null;
    if (place !== null) go(place, { replace: true });
  };

  useEffect(() => {
    const { value } = opened;
    if (value === null) return;
    // The secret leaves the address before anything else happens.
    history.replaceState(null, "", location.pathname);
    // A link that was mailed waits for a person: what looks through mails opens links too.
    if (value.kind === "invitation") void enter(value, "");
  }, []);
  useEffect(() => {
    // Whoever comes back to this page may have signed in in another tab.
    const renew = (): void => {
      if (!document.hidden) void renewBearer().catch(() => null);
    };
    document.addEventListener("visibilitychange", renew);
    addEventListener("focus", renew);
    return () => {
      document.removeEventListener("visibilitychange", renew);
      removeEventListener("focus", renew);
    };
  }, []);

  const { value: link } = opened;
  return (
    <main class="narrow">
      <Mark />
      <h1>{words.title}</h1>
      {lead === undefined ? null : <p>{lead}</p>}
      {refused.value === null ? null : <ProblemNotice problem={refused.value} />}
      <div class="stack">
        {link?.kind === "invitation" ? (
          <p role="status">{words.opening}</p>
        ) : link !== null ? (
          <>
            <button type="button" class="primary" onClick={() => void enter(link, "")}>
              {words.byLink}
            </button>
            {hasAskedHere() ? null : <p>{words.elsewhere}</p>}
          </>
        ) : mailedTo.value === null ? (
          <>
            <SignInForm enter={enter} />
            <PasskeyButton say={say} />
          </>
        ) : (
          <>
            <p role="status">{words.mailedTo(mailedTo.value)}</p>
            <button type="button" onClick={() => (mailedTo.value = null)}>
              {texts.once.back}
            </button>
          </>
        )}
        <p class="quiet">{words.hint}</p>
        <LanguageField />
      </div>
    </main>
  );
};

/** Does what comes of the typed text. @param name  of who comes with a key. */
type Enter = (typed: Typed, name: string) => Promise<void>;

/** One field for whatever a person has. What is typed says what comes of it, on the button. */
const SignInForm: FunctionComponent<{ readonly enter: Enter }> = ({ enter }) => {
  const typed = useSignal("");
  const sent = credentialOf(typed.value);
  const { kind } = sent;
  const send = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void enter(sent, field(event.currentTarget, "name"));
  };
  const isSecret = !["unknown", "email"].includes(kind);
  return (
    <form class="stack" onSubmit={send}>
      <label>
        {linksAreMailed ? words.fieldByMail : words.field}
        <input
          name="who"
          class={isSecret ? "masked" : undefined}
          // What a browser keeps of forms holds no secret.
          autocomplete={isSecret ? "off" : "username"}
          autocapitalize="none"
          required
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
      </label>
      {kind === "apiKey" ? (
        <label>
          {words.nameLogged}
          <input name="name" autocomplete="name" maxLength={200} required />
        </label>
      ) : null}
      <button class="primary">{kind === "email" ? words.mailMe : words.title}</button>
    </form>
  );
};
