/** Waits for the first call of a new key, by the audit log. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { Output } from "../../client/index.ts";
import { openpo } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { deedOf } from "../parts/service-says.tsx";
import { texts } from "../texts/en/texts.ts";

const firstWaitMs = 3_000;
const waitMsMax = 30_000;

export const FirstCall: FunctionComponent<{ readonly keyId: string }> = ({ keyId }) => {
  const seen = useSignal<Output<"audit_log_list">["auditLog"][number] | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let waitMs = firstWaitMs;
    const poll = async (): Promise<void> => {
      // A hidden page asks nothing.
      if (!document.hidden) {
        const result = await openpo.call("audit_log_list", { shopId: shopId(), keyId, limit: 1 });
        seen.value = result.ok ? (result.data.auditLog[0] ?? null) : null;
        waitMs = Math.min(waitMs * 1.5, waitMsMax);
      }
      if (seen.value === null && !isEnded) timer = setTimeout(() => void poll(), waitMs);
    };
    let isEnded = false;
    timer = setTimeout(() => void poll(), waitMs);
    return () => {
      isEnded = true;
      clearTimeout(timer);
    };
  }, [keyId]);
  return (
    <p role="status" class={seen.value === null ? "first-call" : "first-call seen"}>
      {seen.value === null ? texts.keys.waiting : texts.keys.seen(deedOf(seen.value.tag.replace(/^\w+:/, "")) ?? null)}
    </p>
  );
};
