/** The order as its supplier gets it: files to download, and the page to print. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { openpo, type Problem, problemOf } from "../../data/client.ts";
import { saveBlob } from "../../data/saved-file.ts";
import { shopId } from "../../data/session.ts";
import { ProblemNotice } from "../../parts/problem.tsx";
import { hrefOf } from "../../router.ts";
import { texts } from "../../texts/en/texts.ts";

const words = texts.orderDocument;

export const DocumentLinks: FunctionComponent<{ readonly purchaseOrderId: string }> = ({ purchaseOrderId }) => {
  const running = useSignal<"pdf" | "csv" | null>(null);
  const problem = useSignal<Problem | null>(null);
  const download = async (kind: "pdf" | "csv"): Promise<void> => {
    running.value = kind;
    problem.value = null;
    const result = await openpo.call(`purchase_order_document_${kind}`, { shopId: shopId(), purchaseOrderId });
    running.value = null;
    if (result.ok) saveBlob(result.data.fileName, result.data.content);
    else problem.value = problemOf(result);
  };
  return (
    <section aria-labelledby="document">
      <h2 id="document">{words.title}</h2>
      <p class="buttons">
        <button type="button" disabled={running.value !== null} onClick={() => void download("pdf")}>
          {words.pdf}
        </button>
        <button type="button" disabled={running.value !== null} onClick={() => void download("csv")}>
          {words.csv}
        </button>
        <a href={hrefOf("orders", purchaseOrderId, "print")}>{words.print}</a>
        <span role="status" class="quiet">
          {running.value === null ? null : words.running}
        </span>
      </p>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
    </section>
  );
};
