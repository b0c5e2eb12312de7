/**
 * Documents of orders as files: drawn once for each version, off the event loop, shared by everybody who downloads or
 * sends them.
 *
 * Owns: the queue of what is drawn, the cache. Does not own: what stands in a document (content.ts), how it looks
 * (pdf.ts, csv.ts), the threads (drawing-threads.ts).
 */
import { createHash } from "node:crypto";
import { loadHeader } from "../shop/order/purchase-orders.ts";
import { FairQueue } from "../store/fair-queue.ts";
import type { Clock } from "../base/time/clock.ts";
import type { Engine, Log } from "../store/store.ts";
import { type DocumentContent, documentTag, loadFrame, type NextVersion, readContent } from "./content.ts";
import { csvDocument } from "./csv.ts";
import { DrawingThreads } from "./drawing-threads.ts";
import type { Sheet } from "./sheet.ts";

/** The formats of an order's document. */
const documentKinds = ["pdf", "csv"] as const;

export type DocumentKind = (typeof documentKinds)[number];

/** An order's document at one version. */
interface MadeDocument {
  readonly kind: DocumentKind;
  readonly bytes: Uint8Array;
  /** As the header says it: `text/csv; charset=utf-8`. */
  readonly contentType: string;
  /** `PO-1001.pdf`; printable ASCII without quotes, slashes and spaces. */
  readonly fileName: string;
  /** Of the bytes, in hex. */
  readonly sha256: string;
  /** Equal for the same bytes, unquoted: for an ETag. */
  readonly tag: string;
  readonly orderVersion: number;
  readonly poNumber: string;
}

/** PDFs that are drawn at a time; one shop leaves a thread to the others. */
export const drawnAtOnceMax = 2;

/** Documents of one shop that wait to be drawn. */
export const documentsWaitingPerShopMax = 20;

/** Longest wait of a document before it is drawn. */
export const documentWaitMsMax = 15_000;

/** Bytes of finished documents that are kept in memory. */
export const keptBytesMax = 33_554_432;

/** Each format's content type. */
export const contentTypes: Readonly<Record<DocumentKind, string>> = {
  pdf: "application/pdf",
  csv: "text/csv; charset=utf-8",
};

/** A number that may have come from an import, as a file name. */
const fileNameOf = (poNumber: string, kind: DocumentKind): string =>
  `${
    poNumber
      .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[.-]+/, "")
      .slice(0, 100) || "purchase-order"
  }.${kind}`;

/** Documents of orders, for whoever downloads or sends them. */
export interface OrderDocuments {
  /**
   * Returns the order's present document, or the one after a move that is about to be made: the bytes are the same
   * before and after.
   *
   * @param next  default: as it is.
   * @throws Fault NOT_FOUND      there is no such shop or order.
   * @throws Fault INVALID_INPUT  the document's fonts lack a character of the order.
   * @throws Fault DO_OVERLOADED  too many documents of the shop wait to be drawn, or the order changes meanwhile.
   */
  of(shopId: string, purchaseOrderId: string, kind: DocumentKind, next?: NextVersion | null): Promise<MadeDocument>;
  /**
   * The order's document as it will be sent: that of a draft as its move to Sent will leave it. @throws Fault as `of`.
   */
  toSend(shopId: string, purchaseOrderId: string, kind: DocumentKind): Promise<MadeDocument>;
  /** The document with this content (`loadContent`). The same content gives the same bytes. @throws Fault as `of`. */
  make(shopId: string, content: DocumentContent, kind: DocumentKind): Promise<MadeDocument>;
  /** The order's document as it is read: for a page that shows it. @throws Fault as `of`. */
  sheet(shopId: string, purchaseOrderId: string): Promise<Sheet>;
}

/** For what never makes one. */
export const noDocuments: OrderDocuments = {
  of: () => Promise.reject(new Error("documents are not made here")),
  toSend: () => Promise.reject(new Error("documents are not made here")),
  make: () => Promise.reject(new Error("documents are not made here")),
  sheet: () => Promise.reject(new Error("documents are not made here")),
};

export class Documents implements OrderDocuments {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #queue: FairQueue;
  readonly #threads: DrawingThreads;
  /** By tag; the ones used last are at the end. */
  readonly #kept = new Map<string, MadeDocument>();
  readonly #drawing = new Map<string, Promise<MadeDocument>>();
  #keptBytes = 0;

  /**
   * @param fontFile   a font for what the shipped one lacks; null: there is none.
   * @param elapsedMs  as of `FairQueue`.
   */
  constructor({
    engine,
    clock,
    log,
    fontFile = null,
    elapsedMs,
  }: {
    readonly engine: Engine;
    readonly clock: Clock;
    readonly log: Log;
    readonly fontFile?: string | null;
    readonly elapsedMs?: () => number;
  }) {
    this.#engine = engine;
    this.#clock = clock;
    this.#threads = new DrawingThreads(log, fontFile);
    this.#queue = new FairQueue(
      {
        runningMax: drawnAtOnceMax,
        runningPerShopMax: 1,
        waitingPerShopMax: documentsWaitingPerShopMax,
        waitMsMax: documentWaitMsMax,
      },
      "documents",
      elapsedMs,
    );
  }

  async of(
    shopId: string,
    purchaseOrderId: string,
    kind: DocumentKind,
    next: NextVersion | null = null,
  ): Promise<MadeDocument> {
    const shown = { nowMs: this.#clock.now(), next };
    const { header: _header, ...frame } = await this.#engine.read(shopId, (tx) =>
      loadFrame(tx, shopId, purchaseOrderId, shown),
    );
    const known = this.#known(`${shopId} ${documentTag(frame, kind)}`);
    if (known !== null) return known;
    return await this.make(shopId, await readContent(this.#engine, shopId, purchaseOrderId, shown), kind);
  }

  async toSend(shopId: string, purchaseOrderId: string, kind: DocumentKind): Promise<MadeDocument> {
    const header = await this.#engine.read(shopId, (tx) => loadHeader(tx, shopId, purchaseOrderId));
    const next = header?.status === "Draft" ? { status: "Sent" as const, version: header.version + 1 } : null;
    return await this.of(shopId, purchaseOrderId, kind, next);
  }

  async make(shopId: string, content: DocumentContent, kind: DocumentKind): Promise<MadeDocument> {
    const tag = documentTag(content, kind);
    const key = `${shopId} ${tag}`;
    const known = this.#known(key);
    if (known !== null) return known;
    // Those who ask for a document that is being drawn wait for it.
    const running = this.#drawing.get(key);
    if (running !== undefined) return await running;
    const drawing = this.#made(shopId, content, kind, tag).finally(() => this.#drawing.delete(key));
    this.#drawing.set(key, drawing);
    const made = await drawing;
    this.#keep(key, made);
    return made;
  }

  async sheet(shopId: string, purchaseOrderId: string): Promise<Sheet> {
    const shown = { nowMs: this.#clock.now(), next: null };
    const content = await readContent(this.#engine, shopId, purchaseOrderId, shown);
    return await this.#queue.run(shopId, () => this.#threads.sheet(content));
  }

  async #made(shopId: string, content: DocumentContent, kind: DocumentKind, tag: string): Promise<MadeDocument> {
    const bytes =
      kind === "csv"
        ? Buffer.from(csvDocument(content))
        : await this.#queue.run(shopId, () => this.#threads.draw(content));
    return {
      kind,
      bytes,
      contentType: contentTypes[kind],
      fileName: fileNameOf(content.poNumber, kind),
      sha256: createHash("sha256").update(bytes).digest("hex"),
      tag,
      orderVersion: content.orderVersion,
      poNumber: content.poNumber,
    };
  }

  /** A document that is kept. It counts as used. */
  #known(key: string): MadeDocument | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept;
  }

  #keep(key: string, made: MadeDocument): void {
    if (made.bytes.length > keptBytesMax || this.#kept.has(key)) return;
    this.#kept.set(key, made);
    this.#keptBytes += made.bytes.length;
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= keptBytesMax) return;
      this.#kept.delete(oldest);
      this.#keptBytes -= bytes.length;
    }
  }

  /** Ends the threads. Documents that are being drawn are refused. */
  async close(): Promise<void> {
    await this.#threads.close();
  }
}
