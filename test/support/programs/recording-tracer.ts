/**
 * A tracer that programs under test load before they start (`node --import`): each span that ends is a line of JSON in the file that
 * `OPENPO_TEST_SPANS` names.
 */
import {
  type Attributes,
  type Context,
  type Link,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  trace,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api";
import { randomBytes } from "node:crypto";
import { appendFileSync } from "node:fs";

const file = process.env["OPENPO_TEST_SPANS"] ?? "";

class RecordedSpan implements Span {
  readonly #name: string;
  readonly #options: SpanOptions;
  readonly #parent: SpanContext | null;
  readonly #context: SpanContext;
  #attributes: Attributes;
  #status: SpanStatus | null = null;
  #ended = false;

  constructor(name: string, options: SpanOptions, parent: SpanContext | null) {
    this.#name = name;
    this.#options = options;
    this.#parent = parent;
    this.#attributes = { ...options.attributes };
    this.#context = {
      traceId: parent?.traceId ?? randomBytes(16).toString("hex"),
      spanId: randomBytes(8).toString("hex"),
      traceFlags: TraceFlags.SAMPLED,
    };
  }

  spanContext = (): SpanContext => this.#context;
  isRecording = (): boolean => !this.#ended;

  setAttributes(attributes: Attributes): this {
    this.#attributes = { ...this.#attributes, ...attributes };
    return this;
  }

  setAttribute(name: string, value: Attributes[string]): this {
    this.#attributes = { ...this.#attributes, [name]: value };
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.#status = status;
    return this;
  }

  end(): void {
    if (this.#ended) throw new Error(`${this.#name} has ended twice`);
    this.#ended = true;
    const { traceId, spanId } = this.#context;
    const line = {
      name: this.#name,
      kind: this.#options.kind ?? null,
      traceId,
      spanId,
      parentSpanId: this.#parent?.spanId ?? null,
      links: (this.#options.links ?? []).map((link: Link) => link.context.spanId),
      attributes: this.#attributes,
      status: this.#status,
    };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }

  // What OpenPO does not use must not be used unseen.
  addEvent = (): never => unused("addEvent");
  addLink = (): never => unused("addLink");
  addLinks = (): never => unused("addLinks");
  updateName = (): never => unused("updateName");
  recordException = (): never => unused("recordException");
}

function unused(name: string): never {
  throw new Error(`${name} is not recorded by this tracer`);
}

const tracer: Tracer = {
  startSpan: (name: string, options: SpanOptions = {}, context?: Context) =>
    new RecordedSpan(name, options, (context && trace.getSpanContext(context)) ?? null),
  startActiveSpan: () => unused("startActiveSpan"),
};

trace.setGlobalTracerProvider({ getTracer: () => tracer });
