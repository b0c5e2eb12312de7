/** State of the order's e-mails: sent, waiting or failed, with the mail server's words and the way out. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Output } from "../../../client/index.ts";
import { openpo, type Problem, problemOf } from "../../data/client.ts";
import { sentence } from "../../data/format.ts";
import { useReading } from "../../data/reading.ts";
import { hasRole, shopId } from "../../data/session.ts";
import { ProblemNotice } from "../../parts/problem.tsx";
import { Moment } from "../../parts/when.tsx";
import { sendTexts as words } from "../../texts/en/order/send.ts";
import type { Sent } from "./send.tsx";

type Mail = Output<"purchase_order_mail_list">["mails"][number];

const chips: Readonly<Record<Mail["state"], string>> = { queued: "waiting", sent: "done", failed: "bad" };

/** Interval at which the state of a waiting mail is polled. No event tells of it. */
const refreshMs = 5_000;

interface MailsProps {
  readonly purchaseOrderId: string;
  /** Mail that was just sent; null: none was. */
  readonly sent: Sent | null;
  /** Opens the dialog that sends the order. */
  readonly composeAgain: () => void;
}

export const Mails: FunctionComponent<MailsProps> = ({ purchaseOrderId, sent, composeAgain }) => {
  const input = { shopId: shopId(), purchaseOrderId };
  const { data, problem, again } = useReading("purchase_order_mail_list", input);
  const failed = useSignal<Problem | null>(null);
  const wasOpen = useRef(false);
  useEffect(() => {
    if (sent !== null) void again();
  }, [sent]);
  const mails = data?.mails ?? [];
  const isWaiting = mails.some(({ state }) => state === "queued");
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) void again();
    }, refreshMs);
    return () => clearInterval(timer);
  }, [isWaiting]);
  const retry = async (mailId: string): Promise<void> => {
    const result = await openpo.call("purchase_order_mail_retry", { ...input, mailId });
    failed.value = result.ok ? null : problemOf(result);
    await again();
  };
  if (problem === null && mails.length === 0 && sent === null) return null;
  const list = (
    <>
      <ul class="plain-list">
        {mails.map((mail) => (
          <Row key={mail.mailId} mail={mail} retry={() => void retry(mail.mailId)} composeAgain={composeAgain} />
        ))}
      </ul>
      {data !== null && data.totalCount > mails.length ? (
        <p class="quiet">{words.more(data.totalCount - mails.length)}</p>
      ) : null}
    </>
  );
  // Mails that all went before the page was opened are one line.
  if (sent !== null || problem !== null || mails.some(({ state }) => state !== "sent")) wasOpen.current = true;
  if (!wasOpen.current)
    return (
      <details>
        <summary>{words.allSent(data?.totalCount ?? mails.length)}</summary>
        {list}
      </details>
    );
  return (
    <section aria-labelledby="mails">
      <h2 id="mails">{words.mails}</h2>
      <Outcome sent={sent} mails={mails} />
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {failed.value === null ? null : <ProblemNotice problem={failed.value} />}
      {list}
    </section>
  );
};

const addressesOf = ({ recipients }: Mail): string => recipients.map(({ address }) => address).join(", ");

/** Present state of the mail that was just requested, for the person. */
const Outcome: FunctionComponent<{ readonly sent: Sent | null; readonly mails: readonly Mail[] }> = ({
  sent,
  mails,
}) => {
  if (sent === null) return null;
  const mail = mails.find(({ mailId }) => mailId === sent.mail.mailId) ?? sent.mail;
  const warnings = sent.warnings ?? [];
  // What the answer says of the mail is in the row below.
  const recovery = sent.sideEffects.email?.status === "failed" ? null : (sent.recovery ?? null);
  return (
    <>
      <p role="status" class={mail.state === "failed" ? "problem" : "notice"}>
        {mail.state === "sent" ? words.gone.sent(addressesOf(mail)) : words.gone[mail.state]}
      </p>
      {recovery === null ? null : (
        <p class="problem" role="alert">
          {recovery}
        </p>
      )}
      {warnings.length === 0 ? null : (
        <p class="quiet">
          {words.pleaseCheck}: {warnings.map(({ message }) => sentence(message)).join(" ")}
        </p>
      )}
    </>
  );
};

interface RowProps {
  readonly mail: Mail;
  readonly retry: () => void;
  readonly composeAgain: () => void;
}

const Row: FunctionComponent<RowProps> = ({ mail, retry, composeAgain }) => {
  const { state, detail, documents, orderVersion, createdAt, createdBy, nextAttemptAt, attempts } = mail;
  return (
    <li>
      <span>
        <span class={`chip ${chips[state]}`}>{words.states[state]}</span> {words.mailTo(addressesOf(mail))}
        <br />
        <span class="quiet">
          <Moment at={createdAt} />
          {createdBy === null ? null : ` ${words.by(createdBy)}`} ·{" "}
          {words.attached(documents.map(({ fileName }) => fileName).join(", "), orderVersion)}
          {mail.supplierLinkId === null ? null : `, ${words.withLink}`}
        </span>
        {detail === null ? null : (
          <>
            <br />
            <strong>{words.serverSays(sentence(detail))}</strong>
          </>
        )}
        {state !== "queued" ? null : (
          <>
            <br />
            {attempts === 0 || nextAttemptAt === null ? (
              words.firstTry
            ) : (
              <Moment at={nextAttemptAt} says={words.next} />
            )}
          </>
        )}
      </span>
      {state === "failed" && hasRole("purchaser") ? (
        <span class="buttons">
          <button type="button" aria-label={words.sendAgainOf(addressesOf(mail))} onClick={retry}>
            {words.sendAgain}
          </button>
          <button type="button" onClick={composeAgain}>
            {words.anew}
          </button>
        </span>
      ) : null}
    </li>
  );
};
