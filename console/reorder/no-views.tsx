/** A shop without forecast views: what one is for, and a first one for owners, who may import. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import type { Problem } from "../data/client.ts";
import { importFile } from "../data/import-file.ts";
import { hasRole } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { reorderTexts } from "../texts/en/goods/reorder.ts";

/** Everything that one orders by. */
const columns = [
  "productName",
  "variantName",
  "sku",
  "supplierId",
  "supplierName",
  "onHand",
  "incoming",
  "nextIncomingDate",
  "draftQuantity",
  "dailyDemand",
  "daysOfCover",
  "stockoutDate",
  "expectedArrivalDate",
  "reorderPoint",
  "moq",
  "packSize",
  "suggestedOrderQuantity",
  "unitCost",
  "suggestedOrderValue",
  "stockoutCost",
];

const viewOf = () => ({
  type: "forecastView",
  viewId: "console_to_order",
  viewName: reorderTexts.viewName,
  isStarred: true,
  mode: "stock",
  columns,
  filters: { onlyReorder: true },
});

export const NoViews: FunctionComponent<{ readonly made: () => Promise<void> }> = ({ made }) => {
  const problem = useSignal<Problem | null>(null);
  const make = async (): Promise<void> => {
    const answer = await importFile(new Blob([JSON.stringify(viewOf())]), { format: "ndjson" });
    problem.value = "problem" in answer ? answer.problem : null;
    if (problem.value === null) await made();
  };
  return (
    <div class="empty">
      <p>{reorderTexts.empty}</p>
      <p class="quiet">{reorderTexts.emptyHint}</p>
      {problem.value === null ? null : <ProblemNotice problem={problem.value} />}
      {hasRole("owner") ? (
        <button type="button" class="primary" onClick={() => void make()}>
          {reorderTexts.makeView}
        </button>
      ) : null}
    </div>
  );
};
