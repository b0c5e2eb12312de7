/**
 * The link of a supplier over HTTP: `/s/<token>` shows one order, and takes the supplier's answer to it (C64, C64a).
 *
 * Owns: which link leads anywhere, how often it is asked for, the answer's forms. Does not own: how the pages look
 * (page.ts), making and revoking links (admin/supplier/supplier-links.ts), what becomes of an answer
 * (core/supplier/supplier-proposals.ts).
 *
 * By a link nothing can be reached but its order. One that is unknown, expired, revoked, of an order that is gone, was
 * cancelled or has another supplier by now, is answered alike. The token is in the path, which the log, the audit log
 * and messages show masked.
 */
import { z } from "zod";
import { dateOf, dayIn } from "../base/time/calendar.ts";
import { Fault, invalidField } from "../base/fault.ts";
import { lineEvent } from "../core/events/events.ts";
import { parseJson } from "../base/json.ts";
import { zeroQuantity } from "../core/money/money.ts";
import { type LineItem, linesPerOrderMax, type PurchaseOrder } from "../core/order/purchase-order.ts";
import { noShopId, parseSecret } from "../base/secret.ts";
import { shownPath } from "../base/text/shown-path.ts";
import {
  type ProposedLine,
  proposedLines,
  saysNothing,
  saysTheSame,
  type SupplierAnswer,
  type SupplierProposal,
} from "../core/supplier/supplier-proposals.ts";
import type { DocumentKind, OrderDocuments } from "../documents/documents.ts";
import { Attempts, linkGuesses, linkRequests } from "../http/attempts.ts";
import { ofShop } from "../http/body.ts";
import { methodNotAllowed, type RequestContext, type Surface } from "../http/surface.ts";
import { asFault, failure, respond, success } from "../requests/envelope.ts";
import {
  day,
  id,
  instant,
  noRepeats,
  noteMax,
  quantity,
  shortTextMax,
  text,
  textOfLines,
} from "../operations/fields.ts";
import { checkInput } from "../requests/input.ts";
import { AuditTrail } from "../requests/audit/audit-trail.ts";
import { loadShop } from "../shop/access/accounts.ts";
import type { AuditEntry } from "../shop/audit/audit.ts";
import { eventStatements } from "../shop/events/events.ts";
import { loadOrder, pageOfLines } from "../shop/order/purchase-orders.ts";
import { findSupplierLink, type SupplierLink } from "../shop/supplier/supplier-links.ts";
import {
  listSupplierProposals,
  newProposalStatements,
  openSupplierProposal,
} from "../shop/supplier/supplier-proposals.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Engine, Log, Tx } from "../store/store.ts";
import { type Form, readForm } from "./form.ts";
import { type FormError, type Notice, noticePage, orderPage, pagePolicy } from "./page.ts";
import type { Language } from "../base/text/language.ts";
import { languageFor } from "./texts.ts";

/** Replaced proposals of an order that are kept. */
export const replacedProposalsMax = 5;

/** Lines that a supplier's page shows at a time. */
export const supplierPageLinesMax = 200;

/** The path below which the links are. */
const linksPath = "/s";

interface SupplierDependencies {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly documents: OrderDocuments;
  readonly log: Log;
}

/**
 * On every answer. The page is nobody else's: it is kept nowhere, found by no search, and tells no other site where it
 * was.
 */
const headers = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": pagePolicy,
  "Referrer-Policy": "no-referrer",
  "X-Robots-Tag": "noindex, nofollow",
} as const;

/** A link that leads to its order. */
interface OpenLink {
  readonly shopId: string;
  readonly link: SupplierLink;
}

interface Served extends SupplierDependencies {
  readonly guesses: Attempts;
  readonly requests: Attempts;
  readonly auditTrail: AuditTrail;
}

/** Thrown for a link that leads nowhere, whatever the reason. */
const ended = (): Fault =>
  new Fault("NOT_FOUND", "This link leads nowhere. It may have expired, been withdrawn, or been copied in part.", {
    action: "Ask whoever sent you the order for a new link.",
  });

/** The pages of suppliers. */
export function createSupplierPages(deps: SupplierDependencies): Surface {
  const { clock } = deps;
  const served: Served = {
    ...deps,
    guesses: new Attempts(clock, linkGuesses),
    requests: new Attempts(clock, linkRequests),
    auditTrail: new AuditTrail(deps),
  };
  return {
    path: linksPath,
    headers,
    async handle(context) {
      context.operation = "supplier:page";
      try {
        return await answerTo(served, context);
      } catch (error) {
        const fault = asFault(error);
        // A bug is told and logged as everywhere else.
        if (fault.code === "INTERNAL") throw error;
        context.errorCode = fault.code;
        return refusal(context, fault);
      }
    },
  };
}

/** True if the request is a program's: it gets JSON. */
const isJson = ({ request }: RequestContext): boolean =>
  (request.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() === "application/json";

const notices: Readonly<Partial<Record<Fault["code"], Notice>>> = {
  NOT_FOUND: "ended",
  RATE_LIMITED: "busy",
  FORBIDDEN_SCOPE: "elsewhere",
};

/** The fault as a page, or as the error body for a program. */
function refusal(context: RequestContext, fault: Fault): Response {
  const reply = failure(context.requestId, fault);
  const shown = { ...reply, headers: { ...reply.headers, ...headers } };
  if (isJson(context)) return respond(shown);
  return htmlPage(noticePage(languageOf(context), notices[fault.code] ?? "failed"), fault.status, shown.headers);
}

const htmlPage = (body: string, status = 200, more: Readonly<Record<string, string>> = headers): Response =>
  new Response(body, { status, headers: { ...more, "Content-Type": "text/html; charset=utf-8" } });

const languageOf = ({ request }: RequestContext): Language => languageFor(request.header("accept-language"), "en");

async function answerTo(served: Served, context: RequestContext): Promise<Response> {
  const [token = "", part, ...more] = context.path.slice(linksPath.length + 1).split("/");
  const { method } = context.request;
  const open = await openLink(served, context, token);
  context.shopId = open.shopId;
  served.requests.take(open.link.linkId);
  const path = `${linksPath}/${token}`;
  if (more.length > 0) throw ended();
  switch (part) {
    case undefined:
      if (method !== "GET" && method !== "HEAD") throw methodNotAllowed(method, ["GET"]);
      return htmlPage(await shownOrder(served, context, open, path, null));
    case "document.pdf":
    case "document.csv":
      if (method !== "GET" && method !== "HEAD") throw methodNotAllowed(method, ["GET"]);
      context.operation = "supplier:document";
      return await documentOf(served, open, part === "document.pdf" ? "pdf" : "csv");
    case "proposal":
      if (method !== "POST") throw methodNotAllowed(method, ["POST"]);
      context.operation = "supplier:propose";
      refuseOtherSites(context);
      return isJson(context) ? await takeJson(served, context, open) : await takeForm(served, context, open, path);
    default:
      throw ended();
  }
}

/**
 * The link, if it leads to an order. A good link is never refused for what others have guessed from its address. That
 * may be the address of a proxy before all suppliers.
 *
 * @throws Fault NOT_FOUND     it does not.
 * @throws Fault RATE_LIMITED  the address has asked for too many of these.
 */
async function openLink(
  { engine, clock, guesses }: Served,
  { remoteAddress }: RequestContext,
  token: string,
): Promise<OpenLink> {
  const parsed = parseSecret("opl", token);
  const found =
    parsed === null || parsed.shopId === noShopId
      ? null
      : await engine
          .peek(parsed.shopId, (tx) => findSupplierLink(tx, parsed.shopId, parsed.secretHash), parsed.secretHash)
          .catch((error: unknown) => {
            if (isNotFound(error)) return null;
            throw error;
          });
  if (parsed !== null && found !== null) {
    const { order, revokedAtMs, expiresAtMs, supplierId } = found;
    const leads = order !== null && order.status !== "Cancelled" && order.supplierId === supplierId;
    if (leads && revokedAtMs === null && expiresAtMs > clock.now()) return { shopId: parsed.shopId, link: found };
  }
  guesses.take(remoteAddress);
  throw ended();
}

/**
 * A page of another site may not answer in the supplier's place. No cookie identifies the caller of this page, so
 * whoever can send an answer has the link. This keeps a page from sending an answer that the supplier has not seen.
 * Browsers that hide where a form comes from, as this page asks them to, say it in `Sec-Fetch-Site` if they can.
 *
 * @throws Fault FORBIDDEN_SCOPE
 */
function refuseOtherSites({ request }: RequestContext): void {
  const site = request.header("sec-fetch-site");
  const origin = request.header("origin");
  const isOwn =
    site !== null
      ? site === "same-origin"
      : origin === null ||
        origin === "null" ||
        URL.parse(origin)?.host === (request.header("host") ?? "").toLowerCase();
  if (!isOwn)
    throw new Fault("FORBIDDEN_SCOPE", "This answer did not come from the order's own page.", {
      action: "Open the link and send the answer from there.",
    });
}

// What is shown.

/** Answer of a supplier that could not be taken. */
interface Refused {
  readonly form: Form;
  readonly errors: readonly FormError[];
}

/** The order's page. @param refused what was sent and could not be taken; null: nothing was. */
async function shownOrder(
  { engine }: Served,
  context: RequestContext,
  { shopId, link }: OpenLink,
  path: string,
  refused: Refused | null,
): Promise<string> {
  const query = new URLSearchParams(context.search);
  const after = refused === null ? afterFrom(query.get("after")) : refused.form.after;
  const { shop, page, before, latest } = await engine.read(shopId, async (tx) => {
    const { purchaseOrderId } = link;
    const [shop, page, before, [latest]] = await Promise.all([
      loadShop(tx, shopId),
      pageOfLines(tx, shopId, purchaseOrderId, after, supplierPageLinesMax),
      after === null ? 0 : linesUpTo(tx, shopId, purchaseOrderId, after),
      listSupplierProposals(tx, shopId, purchaseOrderId, 1),
    ]);
    return { shop, page, before, latest: latest ?? null };
  });
  // It was deleted a moment ago.
  if (shop === null || page === null) throw ended();
  return orderPage({
    language: languageOf(context),
    path,
    shopName: shop.name,
    timezone: shop.timezone,
    order: page.header,
    lines: page.lineItems,
    linesBefore: before,
    after,
    next: page.end,
    latest,
    expiresAtMs: link.expiresAtMs,
    wasSent: query.has("sent"),
    typed: refused?.form.values ?? null,
    errors: refused?.errors ?? [],
  });
}

const afterFrom = (sent: string | null): number | null => {
  const after = sent === null ? Number.NaN : Number(sent);
  return Number.isSafeInteger(after) && after >= 0 ? after : null;
};

async function linesUpTo(tx: Tx, shopId: string, purchaseOrderId: string, position: number): Promise<number> {
  const page = await pageOfLines(tx, shopId, purchaseOrderId, position, null);
  return page === null ? 0 : page.header.itemCount - page.lineItems.length;
}

async function documentOf({ documents }: Served, { shopId, link }: OpenLink, kind: DocumentKind): Promise<Response> {
  const { bytes, contentType, fileName } = await documents.of(shopId, link.purchaseOrderId, kind);
  return new Response(Buffer.from(bytes), {
    headers: {
      ...headers,
      "Content-Type": contentType,
      "Content-Disposition": `attachment; filename="${fileName}"`,
    },
  });
}

// What is answered.

const shortText = text(shortTextMax);

const lineAnswer = z
  .strictObject({
    lineItemId: id,
    quantityConfirmed: quantity.optional(),
    expectedDeliveryDate: day.optional(),
    cannotDeliver: z.boolean().optional(),
  })
  .check((context) => {
    const { quantityConfirmed, expectedDeliveryDate, cannotDeliver } = context.value;
    const issue = (path: string, message: string) =>
      context.issues.push({ code: "custom", input: context.value, path: [path], message });
    if (cannotDeliver === true && quantityConfirmed !== undefined && quantityConfirmed > 0)
      issue("quantityConfirmed", "must be 0 or left out with cannotDeliver");
    if (quantityConfirmed === undefined && expectedDeliveryDate === undefined && cannotDeliver !== true)
      issue(
        "lineItemId",
        "says nothing; send quantityConfirmed, expectedDeliveryDate or cannotDeliver: true beside it",
      );
  })
  .transform(({ lineItemId, quantityConfirmed, expectedDeliveryDate, cannotDeliver }) => {
    // Of a supplier, 0 means that nothing will come.
    const isNothing = cannotDeliver === true || quantityConfirmed === 0;
    return {
      lineItemId,
      quantityConfirmed: isNothing ? zeroQuantity : (quantityConfirmed ?? null),
      expectedDeliveryDate: expectedDeliveryDate ?? null,
      cannotDeliver: isNothing,
    };
  });

/** Input of a program. */
const answerInput = z
  .strictObject({
    lines: z
      .array(lineAnswer)
      .max(linesPerOrderMax)
      .check(noRepeats((line) => line.lineItemId, "lineItemId"))
      .default([]),
    reference: shortText.optional(),
    trackingNumber: shortText.optional(),
    message: textOfLines(noteMax).optional(),
  })
  .transform(({ lines, reference, trackingNumber, message }): SupplierAnswer => ({
    lines,
    reference: reference ?? null,
    trackingNumber: trackingNumber ?? null,
    message: message ?? null,
  }));

async function takeJson(served: Served, context: RequestContext, open: OpenLink): Promise<Response> {
  const answer = checkInput(answerInput, parseJson(await context.body.whole(ofShop(open.shopId))));
  if (saysNothing(answer))
    throw invalidField("/lines", "is empty, and there is no reference, trackingNumber or message");
  const { proposal, isNew } = await take(served, context, open, () => ({ answer, carriedOver: () => [] }));
  const { requestId } = context;
  const shown = { proposalId: proposal.proposalId, status: proposal.state, createdAt: instant(proposal.createdAtMs) };
  return respond(success(requestId, { proposal: shown }, { status: isNew ? 201 : 200, headers }));
}

/**
 * Takes a filled-in form: mistakes are shown in it. Otherwise the browser is sent back to the page, so that reloading
 * sends nothing again.
 */
async function takeForm(served: Served, context: RequestContext, open: OpenLink, path: string): Promise<Response> {
  const language = languageOf(context);
  const body = Buffer.from(await context.body.whole(ofShop(open.shopId))).toString();
  let refused: Refused | null = null;
  try {
    await take(served, context, open, (order, today) => {
      const { form, answer, errors } = readForm(new URLSearchParams(body), order, { language, today });
      if (errors.length > 0) {
        refused = { form, errors };
        throw new Refusal();
      }
      // Lines of other pages of the form keep what the open proposal says of them.
      return { answer, carriedOver: (open) => open.lines.filter((line) => !form.lineIds.has(line.lineItemId)) };
    });
  } catch (error) {
    if (!(error instanceof Refusal) || refused === null) throw error;
    context.errorCode = "INVALID_INPUT";
    return htmlPage(await shownOrder(served, context, open, path, refused), 400);
  }
  return new Response(null, { status: 303, headers: { ...headers, Location: `${path}?sent=1` } });
}

/** The form has mistakes; nothing was changed. */
class Refusal extends Error {
  override readonly name = "Refusal";
}

/** Answer to an order in its present state, and the parts of an open proposal that go on with it. */
type Reading = (
  order: PurchaseOrder,
  today: string,
) => {
  readonly answer: SupplierAnswer;
  readonly carriedOver: (open: SupplierProposal) => readonly ProposedLine[];
};

/**
 * Keeps an answer as the order's open proposal. An answer that says what the open one says is that one. Any other takes
 * its place: what the supplier said last is what counts, and a person has one answer to look at.
 *
 * @throws Fault NOT_FOUND      the link has ended meanwhile.
 * @throws Fault INVALID_INPUT  see `proposedLines`.
 */
async function take(
  { engine, clock, ids, auditTrail }: Served,
  context: RequestContext,
  { shopId, link }: OpenLink,
  read: Reading,
): Promise<{ readonly proposal: SupplierProposal; readonly isNew: boolean }> {
  const startedAtMs = clock.now();
  const { purchaseOrderId, linkId } = link;
  return await engine.write(shopId, async (tx) => {
    const [shop, order, before] = await Promise.all([
      loadShop(tx, shopId),
      loadOrder(tx, shopId, purchaseOrderId),
      openSupplierProposal(tx, shopId, purchaseOrderId),
    ]);
    if (shop === null || order === null || order.status === "Cancelled" || order.supplierId !== link.supplierId)
      throw ended();
    const today = dateOf(dayIn(shop.timezone, clock.now()));
    const { answer, carriedOver } = read(order, today);
    const lines = [
      ...proposedLines(order, answer, today),
      ...(before === null ? [] : carriedOver(before).filter((line) => isOnOrder(order, line))),
    ];
    const whole = { ...answer, lines };
    const nowMs = clock.now();
    const entry: AuditEntry = {
      auditId: ids.next("aud"),
      atMs: startedAtMs,
      requestId: context.requestId,
      traceId: context.trace.traceId,
      spanId: context.trace.spanId,
      tag: context.operation,
      keyId: null,
      personId: null,
      method: context.request.method,
      path: shownPath(context.path),
      status: 201,
      errorCode: null,
      durationMs: Math.max(0, Math.round(nowMs - startedAtMs)),
      replayed: false,
      count: 1,
    };
    const audit = await auditTrail.statements(tx, shopId, [entry]);
    if (before !== null && saysTheSame(whole, before)) {
      await tx.batch(audit);
      return { proposal: before, isNew: false };
    }
    const proposal: SupplierProposal = {
      proposalId: ids.next("spr"),
      purchaseOrderId,
      linkId,
      state: "open",
      ...whole,
      createdAtMs: nowMs,
      decidedAtMs: null,
      decidedBy: null,
    };
    const event = lineEvent("purchase_order.proposed", order, new Set(lines.map((line) => line.lineItemId)));
    await tx.batch([
      ...newProposalStatements(shopId, proposal, replacedProposalsMax),
      ...eventStatements(shopId, event, {
        actor: { type: "supplier", id: order.supplierId, name: order.supplierName },
        requestId: context.requestId,
        nowMs,
        ids,
      }),
      ...audit,
    ]);
    return { proposal, isNew: true };
  });
}

const isOnOrder = (order: PurchaseOrder, { lineItemId }: ProposedLine): boolean =>
  order.lineItems.some((line: LineItem) => line.poLineItemId === lineItemId);
