/** Signing in: by the link of an invitation, by a key of the shop, or with the operator's token. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { field } from "../data/form.ts";
import { sentence } from "../data/format.ts";
import { type Refused, renewBearer, signIn } from "../data/session.ts";
import { texts } from "../texts/texts.ts";

/** The invitation in the fragment of an address; null without one. */
export const invitationIn = (hash: string): string | null => /^#(opi_[\w-]+)$/.exec(hash)?.[1] ?? null;

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
  useEffect(() => {
    const renew = (): void => {
      if (!document.hidden) void renewBearer().catch(() => null);
    };
    // Escape would close the dialog for a moment, in which the next one gives up what is typed below.
    const stay = (event: KeyboardEvent): void => {
      if (event.key === "Escape") event.preventDefault();
    };
    document.addEventListener("keydown", stay);
    document.addEventListener("visibilitychange", renew);
    addEventListener("focus", renew);
    return () => {
      document.removeEventListener("keydown", stay);
      document.removeEventListener("visibilitychange", renew);
      removeEventListener("focus", renew);
    };
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

export const SignInScreen: FunctionComponent<{ readonly lead?: string }> = ({ lead = texts.signIn.lead }) => {
  const refused = useSignal<Refused | null>(null);
  const isOpening = useSignal(invitationIn(location.hash) !== null);

  const enter = async (credential: Parameters<typeof signIn>[0]): Promise<void> => {
    refused.value = await signIn(credential).catch(() => ({
      message: texts.problem.unreachable,
      action: texts.problem.unreachableHint,
    }));
    isOpening.value = false;
  };

  useEffect(() => {
    const invitation = invitationIn(location.hash);
    if (invitation === null) return;
    // The secret leaves the address before anything else happens.
    history.replaceState(null, "", location.pathname);
    void enter({ invitation });
  }, []);

  const withKey = (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void enter({ apiKey: field(event.currentTarget, "key"), name: field(event.currentTarget, "name") });
  };
  const withToken = (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void enter({ adminToken: field(event.currentTarget, "token") });
  };

  if (isOpening.value)
    return (
      <main class="narrow">
        <p role="status">{texts.signIn.opening}</p>
      </main>
    );
  return (
    <main class="narrow">
      <h1>{texts.signIn.title}</h1>
      <p>{lead}</p>
      {refused.value === null ? null : (
        <div class="problem" role="alert">
          <p>
            <strong>{sentence(refused.value.message)}</strong> {refused.value.action}
          </p>
        </div>
      )}
      <form class="stack" onSubmit={withKey}>
        <label>
          {texts.signIn.apiKey}
          <input name="key" type="password" autocomplete="off" required />
        </label>
        <label>
          {texts.signIn.name}
          <input name="name" autocomplete="name" maxLength={200} required aria-describedby="name-hint" />
        </label>
        <p id="name-hint" class="quiet">
          {texts.signIn.nameHint}
        </p>
        <button class="primary">{texts.signIn.withKey}</button>
      </form>
      <details>
        <summary>{texts.signIn.operator}</summary>
        <form class="stack" onSubmit={withToken}>
          <label>
            {texts.signIn.adminToken}
            <input name="token" type="password" autocomplete="off" required />
          </label>
          <button>{texts.signIn.withToken}</button>
        </form>
      </details>
    </main>
  );
};
