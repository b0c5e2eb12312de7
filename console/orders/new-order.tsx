/**
 * A new order: the supplier first. The order is a draft of the shop from that choice on, so nothing is lost with the
 * page.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { newIdempotencyKey } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { type Choice, locations, suppliers } from "../data/look-ups.ts";
import { hasRole } from "../data/session.ts";
import { BackLink } from "../parts/frame/back-link.tsx";
import { Combobox } from "../parts/fields/combobox.tsx";
import { forgetAll } from "./kept.ts";
import { told } from "../parts/frame/told.ts";
import { ProblemNotice, problemText } from "../parts/problem.tsx";
import { go, hrefOf, listHref } from "../router.ts";
import { texts } from "../texts/en/texts.ts";

const words = texts.newOrder;

export const NewOrderScreen: FunctionComponent = () => {
  const places = useSignal<readonly Choice[] | null>(null);
  /** Kinds of records that an order needs and the shop has none of. */
  const missing = useSignal<readonly ("locations" | "suppliers")[]>([]);
  const problem = useSignal<Problem | null>(null);
  const wanted = useSignal<string | null>(null);
  // The same choice makes one order, however often it has to be sent.
  const key = useRef(newIdempotencyKey());
  useEffect(() => {
    const read = async (): Promise<void> => {
      const [found, sellers] = await Promise.all([locations({}, true), suppliers({}, true)]);
      if ("message" in found) return;
      places.value = found;
      missing.value = [
        ...(found.length === 0 ? (["locations"] as const) : []),
        ...(!("message" in sellers) && sellers.length === 0 ? (["suppliers"] as const) : []),
      ];
    };
    void read();
  }, []);

  /** Says why there is no order. What did not come through can be sent again. */
  const refuse = (refused: Problem): void => {
    if (refused.code === "UNREACHABLE" || refused.approvalRequestId !== undefined) problem.value = refused;
    else told.value = { text: problemText(refused), state: "failed" };
  };
  const create = async (supplierId: string | null): Promise<void> => {
    if (supplierId !== wanted.value) key.current = newIdempotencyKey();
    wanted.value = supplierId;
    problem.value = null;
    // A shop with one location has nothing to choose.
    const [only, another] = places.value ?? [];
    const locationId = another === undefined ? (only?.id ?? null) : null;
    const result = await openpo.call(
      "purchase_order_create",
      { ...(supplierId === null ? {} : { supplierId }), ...(locationId === null ? {} : { locationId }) },
      { idempotencyKey: key.current },
    );
    if (result.ok) {
      forgetAll();
      go(`${hrefOf("orders", result.data.purchaseOrder.purchaseOrderId)}?new`, { replace: true });
    } else refuse(problemOf(result));
  };

  return (
    <>
      <BackLink href={listHref("orders")}>{texts.order.back}</BackLink>
      <h1>{words.title}</h1>
      {hasRole("purchaser") ? (
        <div class="stack narrow">
          <p class="quiet">{words.lead}</p>
          {problem.value === null ? null : (
            <ProblemNotice problem={problem.value} again={() => void create(wanted.value)} />
          )}
          {missing.value.map((kind) => (
            <p key={kind} class="notice">
              {words.none[kind]} <a href={hrefOf("new", kind)}>{words.add[kind]}</a>
            </p>
          ))}
          <Combobox
            label={words.supplier}
            hint={words.hint}
            search={(search) => suppliers({ search }, true)}
            choose={({ id }) => void create(id)}
            isFirst
          />
          <p>
            <button type="button" onClick={() => void create(null)}>
              {words.without}
            </button>
          </p>
        </div>
      ) : (
        <p class="notice">{words.closed}</p>
      )}
    </>
  );
};
