/**
 * Spans by OpenTelemetry's API (C6b). OpenPO brings no SDK: whoever wants spans registers one before the program starts
 * (`node --import`, docs/operating.md). Without one nothing is made.
 */
import {
  type Attributes,
  type Context,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace as api,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api";
import { noSpans, type SpanFacts, type SpanIds, type SpanName, type SpanParent, type Spans } from "../base/spans.ts";
import { idsOf } from "../base/trace-context.ts";

const kindOf = (name: SpanName): SpanKind => {
  if (name === "openpo.request") return SpanKind.SERVER;
  if (name === "effect.attempt") return SpanKind.CONSUMER;
  return name === "webhook.attempt" || name.startsWith("storefront.") ? SpanKind.CLIENT : SpanKind.INTERNAL;
};

/** The spans of the SDK that the process has by now; `noSpans` when it has none. */
export function openSpans(version: string): Spans {
  const provider = api.getTracerProvider();
  if (!(provider instanceof ProxyTracerProvider)) return spansOf(provider.getTracer("openpo", version));
  const tracer = provider.getDelegateTracer("openpo", version);
  return tracer === undefined ? noSpans : spansOf(tracer);
}

const spansOf = (tracer: Tracer): Spans => ({
  recorded: true,
  start(name, parent, facts, links = []) {
    const span = tracer.startSpan(
      name,
      {
        kind: kindOf(name),
        attributes: attributesOf(facts),
        links: links.flatMap((link) => {
          const ids = idsOf(link);
          return ids === null ? [] : [{ context: contextOf(ids, true) }];
        }),
      },
      under(parent),
    );
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      ids: { traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 },
      end(last = {}) {
        span.setAttributes(attributesOf(last));
        if (last["error.type"] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  },
});

function attributesOf(facts: SpanFacts): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts))
    if (value !== null && value !== undefined) attributes[name] = value;
  return attributes;
}

const contextOf = ({ traceId, spanId, sampled }: SpanIds, isRemote: boolean): SpanContext => ({
  traceId,
  spanId,
  traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote,
});

function under(parent: SpanParent | null): Context {
  const isRemote = typeof parent === "string";
  const ids = isRemote ? idsOf(parent) : parent;
  return ids === null ? ROOT_CONTEXT : api.setSpanContext(ROOT_CONTEXT, contextOf(ids, isRemote));
}
