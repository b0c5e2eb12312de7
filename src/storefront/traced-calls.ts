/**
 * A storefront whose calls have a span each (C6b). A write carries its span's ids to the storefront.
 */
import { type Span, type SpanParent, type Spans, traceparentUnder, withinSpan } from "../base/spans.ts";
import type { PullPage, PullRequest, StorefrontPull } from "./pull.ts";
import type { ReadContext, Storefront, WriteContext } from "./storefront.ts";

export function withTracedCalls(
  storefront: Storefront,
  spans: Spans,
  shopId: string,
  parent: SpanParent | null,
): Storefront {
  if (!spans.recorded) return storefront;
  const begun = (
    call: Exclude<keyof Storefront, "capabilities" | "pull" | "ownStock">,
    items: readonly unknown[],
  ): Span => spans.start(`storefront.${call}`, parent, { "openpo.shop.id": shopId, "openpo.items": items.length });
  const under = (span: Span, context: WriteContext): WriteContext => ({
    ...context,
    traceparent: traceparentUnder(span, context.traceparent ?? null),
  });
  /** A call of which only the ids are known. */
  const traced =
    <T>(
      call: "checkVariants" | "activateVariants" | "readCosts",
      ask: (ids: readonly string[], context?: ReadContext) => Promise<T>,
    ) =>
    (ids: readonly string[], context?: ReadContext): Promise<T> =>
      withinSpan(begun(call, ids), () => ask(ids, context));
  /** A call that carries the trace on. */
  const passedOn =
    <Item, T>(
      call: "changeOnHand" | "readOnHand" | "setIncoming" | "writeCosts" | "setTags",
      ask: (items: readonly Item[], context: WriteContext) => Promise<T>,
    ) =>
    (items: readonly Item[], context: WriteContext): Promise<T> => {
      const span = begun(call, items);
      return withinSpan(span, () => ask(items, under(span, context)));
    };
  const tracedPull = (pull: StorefrontPull): StorefrontPull => ({
    bringsAllVariants: pull.bringsAllVariants,
    names: (kind, id) => pull.names(kind, id),
    page(request: PullRequest, context?: ReadContext): Promise<PullPage> {
      const facts = { "openpo.shop.id": shopId, "openpo.part": request.stage };
      return withinSpan(spans.start("storefront.pull", parent, facts), () => pull.page(request, context));
    },
  });
  return {
    capabilities: storefront.capabilities,
    ...(storefront.pull === undefined ? {} : { pull: tracedPull(storefront.pull) }),
    ...(storefront.ownStock === undefined ? {} : { ownStock: storefront.ownStock }),
    checkVariants: traced("checkVariants", (ids, context) => storefront.checkVariants(ids, context)),
    activateVariants: traced("activateVariants", (ids, context) => storefront.activateVariants(ids, context)),
    readCosts: traced("readCosts", (ids, context) => storefront.readCosts(ids, context)),
    changeOnHand: passedOn("changeOnHand", (changes, context) => storefront.changeOnHand(changes, context)),
    readOnHand: passedOn("readOnHand", (changes, context) => storefront.readOnHand(changes, context)),
    setIncoming: passedOn("setIncoming", (levels, context) => storefront.setIncoming(levels, context)),
    writeCosts: passedOn("writeCosts", (costs, context) => storefront.writeCosts(costs, context)),
    setTags: passedOn("setTags", (changes, context) => storefront.setTags(changes, context)),
  };
}
