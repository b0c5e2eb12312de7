/**
 * Sending an order to its supplier: the attachments, the recipients and the text. A draft is moved to Sent with it.
 * Without a mail server the same text goes to the person's own mail program.
 */
import { type Signal, useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedEvent, TargetedInputEvent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import {
  type ErrorDetails,
  type Input,
  newIdempotencyKey,
  type Output,
  type VariantDetail,
} from "../../../client/index.ts";
import { NeedsApproval, useCauses } from "../../approvals/before.tsx";
import { approvalTexts } from "../../texts/en/shop/approvals.ts";
import { faultsOf, openpo, openpoOnce, type Problem, problemOf } from "../../data/client.ts";
import { saveBlob } from "../../data/saved-file.ts";
import { useReading } from "../../data/reading.ts";
import { shopId } from "../../data/session.ts";
import { ProblemNotice, problemText } from "../../parts/problem.tsx";
import { Field } from "../../parts/sending.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { sendTexts as words } from "../../texts/en/order/send.ts";
import { giveUp, useUnsaved } from "../../unsaved.ts";
import { Guard } from "../guard.tsx";
import type { FullOrder, OrderState, Resolution } from "../order-state.ts";

/** Result of a requested mail. */
export type Sent = Output<"purchase_order_send">;

type Next = Output<"purchase_order_mail_list">["next"];

interface SendProps {
  readonly state: OrderState;
  readonly order: FullOrder;
  /** @param sent null: nothing was. */
  readonly close: (sent: Sent | null) => void;
}

/** Text and choices of the person. */
interface Written {
  readonly to: string;
  readonly cc: string;
  readonly subject: string;
  readonly message: string;
  readonly hasLink: boolean;
  readonly attachCsv: boolean;
}

/** Texts of dialogs that were closed without sending, by order: they are there again when it is opened again. */
const unsent = new Map<string, Written>();

const linkPlace = "{link}";

const suggested = ({ to, subject, messageWithLink }: Next): Written => ({
  to: to ?? "",
  cc: "",
  subject,
  message: messageWithLink,
  hasLink: true,
  attachCsv: false,
});

/**
 * The message with or without a link: what nobody has written is replaced, what somebody has written only gets or loses
 * the link's place.
 */
function withLink(message: string, hasLink: boolean, next: Next): string {
  if (message === next.message || message === next.messageWithLink)
    return hasLink ? next.messageWithLink : next.message;
  if (!hasLink)
    return message
      .split("\n")
      .filter((line) => !line.includes(linkPlace))
      .join("\n");
  return message.includes(linkPlace) ? message : `${message.trimEnd()}\n\n${linkPlace}\n`;
}

/** Addresses as they are typed: separated by commas, semicolons or spaces. */
const addressesIn = (text: string): readonly string[] => text.split(/[\s,;]+/).filter((address) => address !== "");

const isVariantDetail = (detail: ErrorDetails[number]): detail is VariantDetail => "issue" in detail;

export const Send: FunctionComponent<SendProps> = ({ state, order, close }) => {
  const { purchaseOrderId, poNumber } = order;
  const input = { shopId: shopId(), purchaseOrderId };
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const { data, problem: unread, again } = useReading("purchase_order_mail_list", input);
  const written = useSignal<Written | null>(null);
  const file = usePreview(order);
  const sent = useRef<Sent | null>(null);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (data !== null) written.value ??= unsent.get(purchaseOrderId) ?? suggested(data.next);
  }, [data]);
  // Closing the dialog keeps the text, leaving the page does not.
  useUnsaved(
    data !== null && written.value !== null && JSON.stringify(written.value) !== JSON.stringify(suggested(data.next)),
  );
  const leave = (): void => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      class="dialog send"
      aria-labelledby={heading}
      onClose={() => {
        if (written.value !== null && sent.current === null) unsent.set(purchaseOrderId, written.value);
        close(sent.current);
      }}
    >
      <h2 id={heading}>{words.title(poNumber)}</h2>
      {unread === null ? null : <ProblemNotice problem={unread} again={() => void again()} />}
      {data === null && unread === null ? <Skeleton /> : null}
      <div class="send-parts">
        {data === null || written.value === null ? null : data.next.isOn ? (
          <Mailing
            state={state}
            order={order}
            next={data.next}
            written={written.value}
            write={(more) => (written.value = { ...(written.value ?? suggested(data.next)), ...more })}
            file={file}
            done={(answer) => {
              sent.current = answer;
              unsent.delete(purchaseOrderId);
              leave();
            }}
            leave={leave}
          />
        ) : (
          <OwnProgram
            state={state}
            order={order}
            next={data.next}
            written={written.value}
            write={(more) => (written.value = { ...(written.value ?? suggested(data.next)), ...more })}
            leave={leave}
          />
        )}
        <Preview file={file} />
      </div>
    </dialog>
  );
};

// What will be attached.

interface File {
  readonly name: string;
  readonly content: Blob;
  readonly address: string;
  readonly sha256: string;
}

interface PreviewState {
  readonly file: Signal<File | null>;
  readonly problem: Signal<Problem | null>;
  /** Reads it again. */
  readonly read: () => Promise<void>;
}

/** The order's document as it will be sent; read again when the order changes. */
function usePreview({ purchaseOrderId, version }: FullOrder): PreviewState {
  const file = useSignal<File | null>(null);
  const problem = useSignal<Problem | null>(null);
  const read = async (): Promise<void> => {
    const submitted = { shopId: shopId(), purchaseOrderId, status: "Sent" } as const;
    const result = await openpo.call("purchase_order_document_pdf", submitted);
    problem.value = result.ok ? null : problemOf(result);
    const before = file.value;
    if (!result.ok) return;
    const sha256 = (result.etag ?? "").replaceAll('"', "");
    if (before?.sha256 === sha256) return;
    const { fileName: name, content } = result.data;
    file.value = { name, content, sha256, address: URL.createObjectURL(content) };
    if (before !== null) URL.revokeObjectURL(before.address);
  };
  useEffect(() => void read(), [version]);
  useEffect(
    () => () => {
      if (file.value !== null) URL.revokeObjectURL(file.value.address);
    },
    [],
  );
  return { file, problem, read };
}

const Preview: FunctionComponent<{ readonly file: PreviewState }> = ({ file: { file, problem, read } }) => {
  const shown = file.value;
  return (
    <section class="send-preview" aria-label={words.preview}>
      <h3>{words.preview}</h3>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} again={() => void read()} />}
      {shown === null && problem.value === null ? <p role="status">{words.drawing}</p> : null}
      {shown === null ? null : (
        <>
          <p>
            {shown.name} <span class="quiet">{words.size(shown.content.size)}</span>
          </p>
          <p class="buttons">
            <button type="button" onClick={() => saveBlob(shown.name, shown.content)}>
              {words.download}
            </button>
            <a href={shown.address} target="_blank" rel="noreferrer">
              {words.open}
            </a>
          </p>
          {navigator.pdfViewerEnabled ? (
            <iframe class="paper" title={words.preview} src={`${shown.address}#toolbar=0&navpanes=0&view=FitH`} />
          ) : (
            <p class="quiet">{words.noViewer}</p>
          )}
          <p class="quiet hash">{words.hash(shown.sha256)}</p>
        </>
      )}
    </section>
  );
};

// What it says.

interface FormProps extends Omit<SendProps, "close"> {
  readonly next: Next;
  readonly written: Written;
  readonly write: (more: Partial<Written>) => void;
  readonly leave: () => void;
}

const fieldNames = ["to", "cc", "subject"] as const;

/** The fields of a mail. */
const Fields: FunctionComponent<
  Pick<FormProps, "next" | "written" | "write"> & { readonly faults: ReadonlyMap<string, string> }
> = ({ next, written, write, faults }) => {
  const hints: Readonly<Record<(typeof fieldNames)[number], string | undefined>> = {
    to: next.to === null && written.to === "" ? words.noAddress : undefined,
    cc: words.toHint,
    subject: undefined,
  };
  return (
    <>
      {fieldNames.map((name) => (
        <Field key={name} name={name} label={words[name]} hint={hints[name]} wrong={faults}>
          {(common) => {
            const all = {
              ...common,
              required: name !== "cc",
              value: written[name],
              onInput: (event: TargetedInputEvent<HTMLInputElement>) => write({ [name]: event.currentTarget.value }),
            };
            return name === "subject" ? <input {...all} /> : <input type="email" multiple {...all} />;
          }}
        </Field>
      ))}
      <Field name="message" label={words.message} wrong={faults}>
        {(common) => (
          <textarea
            {...common}
            rows={11}
            required
            value={written.message}
            onInput={(event) => write({ message: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field name="supplierLink" label={words.link} hint={words.linkHint} wrong={faults}>
        {(common) => (
          <input
            {...common}
            type="checkbox"
            checked={written.hasLink}
            onChange={(event) => {
              const hasLink = event.currentTarget.checked;
              write({ hasLink, message: withLink(written.message, hasLink, next) });
            }}
          />
        )}
      </Field>
    </>
  );
};

interface MailingProps extends FormProps {
  readonly file: PreviewState;
  readonly done: (sent: Sent) => void;
}

type SendInput = Input<"purchase_order_send">;

const Mailing: FunctionComponent<MailingProps> = ({ state, order, next, written, write, file, done, leave }) => {
  const { purchaseOrderId, status } = order;
  const causes = useCauses(order, status === "Draft");
  const problem = useSignal<Problem | null>(null);
  const isChanged = useSignal(false);
  const isSending = useSignal(false);
  // The same mail is asked for under the same key, until it was answered.
  const submitted = useRef<{ readonly body: string; readonly key: string } | null>(null);
  const keyOf = (input: SendInput): string => {
    const body = JSON.stringify(input);
    if (submitted.current?.body !== body) submitted.current = { body, key: newIdempotencyKey() };
    return submitted.current.key;
  };
  const send = async (resolutions: readonly Resolution[]): Promise<void> => {
    const { file: shown } = file;
    if (shown.value === null || isSending.value) return;
    const cc = addressesIn(written.cc);
    const input: SendInput = {
      shopId: shopId(),
      purchaseOrderId,
      to: [...addressesIn(written.to)],
      ...(cc.length === 0 ? {} : { cc: [...cc] }),
      subject: written.subject,
      message: written.message,
      attachCsv: written.attachCsv,
      supplierLink: written.hasLink,
      moveToSent: true,
      documentSha256: shown.value.sha256,
      ...(resolutions.length === 0 ? {} : { resolutions: [...resolutions] }),
    };
    isSending.value = true;
    isChanged.value = false;
    problem.value = null;
    const result = await openpo.call("purchase_order_send", input, { idempotencyKey: keyOf(input) });
    isSending.value = false;
    if (result.ok) {
      await state.read();
      return done(result.data);
    }
    // Refused for good: nothing was done under this key.
    if (result.status !== null && result.status < 500) submitted.current = null;
    if (result.status === 412) {
      isChanged.value = true;
      await Promise.all([state.read(), file.read()]);
    } else problem.value = problemOf(result);
  };
  const faults = faultsOf(problem.value);
  const variants = (problem.value?.details ?? []).filter(isVariantDetail);
  const isGuarded = problem.value?.code === "INVENTORY_GUARD_ISSUES" && variants.length > 0;
  return (
    <div>
      <form
        class="send-form"
        onSubmit={(event: TargetedEvent<HTMLFormElement>) => {
          event.preventDefault();
          void send([]);
        }}
      >
        <p>
          {written.to.trim() === "" ? null : words.goesTo(addressesIn(written.to).join(", "))}{" "}
          {status === "Draft" ? words.moves : null}
        </p>
        <Fields next={next} written={written} write={write} faults={faults} />
        <label class="tick">
          <input
            type="checkbox"
            checked={written.attachCsv}
            onChange={(event) => write({ attachCsv: event.currentTarget.checked })}
          />
          {words.csv}
        </label>
        {file.file.value === null ? null : (
          <p>{words.attaches(file.file.value.name, words.size(file.file.value.content.size))}</p>
        )}
        {isChanged.value ? (
          <p class="problem" role="alert">
            {words.changed}
          </p>
        ) : null}
        {problem.value === null ? <NeedsApproval causes={causes} /> : null}
        {problem.value === null || isGuarded ? null : <ProblemNotice problem={problem.value} />}
        <p class="actions">
          <span role="status" class="quiet">
            {isSending.value ? words.sending : null}
          </span>
          <button type="button" onClick={leave}>
            {words.later}
          </button>
          <button
            class="primary"
            disabled={isSending.value || file.file.value === null || problem.value?.approvalRequestId !== undefined}
          >
            {causes.length === 0 ? words.send : approvalTexts.askToSend}
          </button>
        </p>
      </form>
      {problem.value !== null && isGuarded ? (
        <div ref={(question) => question?.scrollIntoView({ block: "nearest" })}>
          <Guard problem={problem.value} variants={variants} order={order} again={send} />
        </div>
      ) : null}
    </div>
  );
};

/** No mail server: the person's own mail program gets the text, with a link that is made for it. */
const OwnProgram: FunctionComponent<FormProps> = ({ state, order, next, written, write, leave }) => {
  const { purchaseOrderId, status } = order;
  const causes = useCauses(order, status === "Draft");
  const wrong = useSignal<ReadonlyMap<string, string>>(new Map());
  const open = async (): Promise<void> => {
    wrong.value = new Map();
    let { message } = written;
    if (written.hasLink) {
      const made = await openpoOnce.call("supplier_link_create", { shopId: shopId(), purchaseOrderId });
      if (!made.ok) {
        wrong.value = new Map([["supplierLink", problemText(problemOf(made))]]);
        return;
      }
      message = withLink(message, true, next).replaceAll(linkPlace, made.data.url);
    }
    const fields = { subject: written.subject, body: message, cc: addressesIn(written.cc).join(",") };
    const query = Object.entries(fields)
      .filter(([, value]) => value !== "")
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join("&");
    // The text is theirs from here on: nobody is asked about it.
    giveUp();
    location.href = `mailto:${addressesIn(written.to)
      .map((address) => encodeURIComponent(address).replace("%40", "@"))
      .join(",")}?${query}`;
  };
  const mark = async (): Promise<void> => {
    leave();
    await state.change<"purchase_order_status">({
      send: (ifMatch, resolutions) =>
        openpo.call(
          "purchase_order_status",
          { purchaseOrderId, status: "Sent", ...(resolutions.length === 0 ? {} : { resolutions }) },
          { ifMatch },
        ),
      touches: null,
    });
  };
  return (
    <form
      class="send-form"
      onSubmit={(event: TargetedEvent<HTMLFormElement>) => {
        event.preventDefault();
        void open();
      }}
    >
      <div class="notice">
        <p>
          <strong>{words.off}</strong> {words.offHint}
        </p>
      </div>
      <Fields next={next} written={written} write={write} faults={wrong.value} />
      <p class="quiet">{words.mailProgramHint}</p>
      <NeedsApproval causes={causes} />
      <p class="actions">
        <button type="button" onClick={leave}>
          {words.later}
        </button>
        {status === "Draft" ? (
          <button type="button" onClick={() => void mark()}>
            {causes.length === 0 ? words.markSent : approvalTexts.askToSend}
          </button>
        ) : null}
        <button class="primary">{words.mailProgram}</button>
      </p>
    </form>
  );
};
