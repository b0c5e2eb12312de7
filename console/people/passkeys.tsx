/** Passkeys, as the browser makes and uses them (C49): signing in by one, and a person's own, listed and changed. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedSubmitEvent } from "preact";
import { useEffect } from "preact/hooks";
import { unreachable } from "../data/client.ts";
import { field } from "../data/form.ts";
import { member, type Refused, refusedOf, send, signIn } from "../data/session.ts";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { TableHead } from "../parts/lists/table-head.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Field, useSending } from "../parts/sending.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { Moment } from "../parts/when.tsx";
import { texts } from "../texts/en/texts.ts";
import { peopleTexts as words } from "../texts/en/shop/people.ts";

/** The one address at which passkeys hold; undefined: the service has none. The page says so itself. */
const passkeyOrigin = document.documentElement.dataset["passkeys"];

/** True if this page may use passkeys, and its browser reads what the service asks for. */
const passkeysWork =
  location.origin === passkeyOrigin && "parseCreationOptionsFromJSON" in (globalThis.PublicKeyCredential ?? {});

type Options = PublicKeyCredentialCreationOptionsJSON & PublicKeyCredentialRequestOptionsJSON;

// The service's tests hold what it answers; a page does not validate it again.
const isOptions = (value: unknown): value is Options => member(value, "challenge") !== undefined;

/**
 * Has the browser make a passkey, or sign with one, and sends what comes of it.
 *
 * @param path   of the options.
 * @param none   what is said when nothing comes of it: the browser has told the person why.
 * @returns why not; null when it worked.
 */
async function withPasskey(
  path: "sign-in-options" | "passkeys/options",
  ask: (options: Options) => Promise<Credential | null>,
  { none, sendOn }: { readonly none: Refused; readonly sendOn: (passkey: Credential) => Promise<Refused | null> },
): Promise<Refused | null> {
  const { status, body } = await send("POST", path, {});
  const options = member(member(body, "data"), "options");
  if (status !== 200 || !isOptions(options)) return refusedOf(body);
  const passkey = await ask(options).catch(() => null);
  return passkey === null ? none : await sendOn(passkey);
}

/** A button that signs in by a passkey, where that can be done. */
export const PasskeyButton: FunctionComponent<{ readonly say: (doing: Promise<Refused | null>) => unknown }> = ({
  say,
}) =>
  passkeysWork ? (
    <button
      type="button"
      onClick={() =>
        say(
          withPasskey(
            "sign-in-options",
            (options) =>
              navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
            { none: words.noPasskey, sendOn: (passkey) => signIn({ passkey }) },
          ),
        )
      }
    >
      {words.byPasskey}
    </button>
  ) : null;

interface Passkey {
  readonly passkeyId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

const areRows = (value: unknown): value is readonly Passkey[] => Array.isArray(value);

export const Passkeys: FunctionComponent = () => {
  const rows = useSignal<readonly Passkey[] | null>(null);
  const refused = useSignal<Refused | null>(null);
  const renaming = useSignal<string | null>(null);
  const removing = useSignal<Passkey | null>(null);
  const load = async (): Promise<Refused | null> => {
    const { status, body } = await send("GET", "passkeys");
    const passkeys = member(member(body, "data"), "passkeys");
    if (status !== 200 || !areRows(passkeys)) return refusedOf(body);
    rows.value = passkeys;
    renaming.value = null;
    return null;
  };
  /** Changes something and shows what there is then. */
  const change = async (method: string, path: string, sent: object): Promise<Refused | null> => {
    const { status, body } = await send(method, path, sent);
    return status < 300 ? await load() : refusedOf(body);
  };
  const adding = useSending(([name = ""]) => name);
  useEffect(() => {
    const read = async (): Promise<void> => {
      refused.value = await load().catch(() => unreachable);
    };
    void read();
  }, []);
  const add = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = field(form, "name");
    const why = await withPasskey(
      "passkeys/options",
      (options) =>
        navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
      { none: words.noneAdded, sendOn: (passkey) => change("POST", "passkeys", { name, passkey }) },
    ).catch(() => unreachable);
    adding.came(why);
    if (why === null) form.reset();
  };
  const { value: chosen } = removing;
  return (
    <>
      <div class="heading">
        <h1>{texts.titles.account}</h1>
      </div>
      <p>{words.passkeyLead}</p>
      {refused.value === null ? null : <ProblemNotice problem={refused.value} />}
      {passkeysWork ? (
        <>
          <form class="inline-form" data-asks onSubmit={(event) => void add(event)}>
            <Field name="name" label={words.columns.name} wrong={adding.wrong}>
              {(common) => <input {...common} maxLength={100} placeholder={words.passkeyHint} required />}
            </Field>
            <button class="primary">{words.addPasskey}</button>
          </form>
          {adding.notice}
        </>
      ) : passkeyOrigin === undefined ? (
        <p class="notice">{words.noPasskeysHere}</p>
      ) : (
        <p class="notice">
          {words.passkeysAt} <a href={`${passkeyOrigin}/console/account`}>{passkeyOrigin}</a>
        </p>
      )}
      {rows.value === null ? (
        refused.value === null ? (
          <Skeleton />
        ) : null
      ) : rows.value.length === 0 ? (
        <p class="empty">{words.noPasskeys}</p>
      ) : (
        <table class="rows">
          <TableHead titles={[words.columns.name, words.added, words.lastUsed]} does={words.columns.does} />
          <tbody>
            {rows.value.map((passkey) => (
              <tr key={passkey.passkeyId}>
                <th scope="row">
                  {renaming.value === passkey.passkeyId ? (
                    <Rename
                      name={passkey.name}
                      save={(name) => change("PATCH", `passkeys/${passkey.passkeyId}`, { name })}
                    />
                  ) : (
                    passkey.name
                  )}
                </th>
                <td data-name={words.added}>
                  <Moment at={passkey.createdAt} />
                </td>
                <td data-name={words.lastUsed}>
                  {passkey.lastUsedAt === null ? words.never : <Moment at={passkey.lastUsedAt} />}
                </td>
                <td class="does">
                  <button
                    type="button"
                    aria-label={words.renameOf(passkey.name)}
                    onClick={() => (renaming.value = passkey.passkeyId)}
                  >
                    {words.rename}
                  </button>
                  <button
                    type="button"
                    aria-label={words.removeOf(passkey.name)}
                    onClick={() => (removing.value = passkey)}
                  >
                    {words.remove}
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {chosen === null ? null : (
        <AskFirst
          title={words.removeTitle(chosen.name)}
          text={words.removePasskeyText}
          action={words.remove}
          run={() => change("DELETE", `passkeys/${chosen.passkeyId}`, {}).catch(() => unreachable)}
          onClose={() => (removing.value = null)}
        />
      )}
    </>
  );
};

interface RenameProps {
  readonly name: string;
  readonly save: (name: string) => Promise<Refused | null>;
}

const Rename: FunctionComponent<RenameProps> = ({ name, save }) => {
  const { wrong, notice, came } = useSending(([member = ""]) => member);
  const rename = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    came(await save(field(event.currentTarget, "name")).catch(() => unreachable));
  };
  return (
    <form class="inline-form" data-asks onSubmit={(event) => void rename(event)}>
      <Field name="name" label={words.columns.name} wrong={wrong}>
        {(common) => <input {...common} maxLength={100} defaultValue={name} required />}
      </Field>
      <button class="primary">{words.save}</button>
      {notice}
    </form>
  );
};
