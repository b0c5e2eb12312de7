/**
 * The view of an order that hosts with frames for apps show beside a tool's answer (extension
 * `io.modelcontextprotocol/ui`, 2026-01-26). The text of the answer is whole without it.
 *
 * It loads nothing and calls nothing: it shows what the host hands to it, as text. A request that waits for a decision
 * has a button that opens it in the console, where a person decides.
 */
import { minorDigitsBeside2 } from "../../core/money/minor-units.ts";

export const orderView = {
  uri: "ui://order",
  name: "order-view",
  title: "Purchase order",
  description: "An order with its lines, and the way to a decision that it waits for.",
  mimeType: "text/html;profile=mcp-app",
};

/** Shown lines; the others are counted. */
const shownLinesMax = 50;

const styles = `
:root { color-scheme: light dark; --text: var(--color-text-primary, light-dark(#16181d, #eceef2));
  --quiet: var(--color-text-secondary, light-dark(#565b63, #a9afba)); --line: var(--color-border-primary, light-dark(#d4d7dc, #3b3f47));
  --accent: light-dark(#0b5cad, #8ec1ff); --on-accent: light-dark(#fff, #0b1320); --soft: light-dark(#eef2f7, #262b33); }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; color: var(--text); background: var(--color-background-primary, light-dark(#fff, #1c1f25));
  font: 0.9375rem/1.45 var(--font-sans, system-ui, sans-serif); overflow-wrap: anywhere; }
h1 { font-size: 1.125rem; margin: 0; display: flex; flex-wrap: wrap; gap: 0.25rem 0.75rem; align-items: baseline; }
.status { font-size: 0.8125rem; font-weight: 600; padding: 0.1rem 0.6rem; border-radius: 1rem; background: var(--soft); white-space: nowrap; }
p { margin: 0.25rem 0; }
.quiet, th { color: var(--quiet); }
table { width: 100%; border-collapse: collapse; margin-top: 0.75rem; font-variant-numeric: tabular-nums; }
th { font-size: 0.8125rem; font-weight: 500; text-align: start; }
th, td { padding: 0.35rem 0.5rem; border-top: 1px solid var(--line); vertical-align: top; }
th:first-child, td:first-child { padding-inline-start: 0; }
th:last-child, td:last-child { padding-inline-end: 0; }
.figure { text-align: end; white-space: nowrap; }
.sum { border-top: 1px solid var(--line); margin-top: 0; padding-top: 0.5rem; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; justify-content: space-between; }
.decision { background: var(--soft); border-radius: 0.5rem; padding: 0.75rem 1rem; margin-bottom: 1rem; }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0.5rem 1.25rem; margin-top: 0.5rem; border: 0; border-radius: 0.4rem;
  background: var(--accent); color: var(--on-accent); cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 30rem) { button { width: 100%; } .wide { display: none; } }`;

/** Runs in the host's frame. Everything of the answer becomes text nodes. */
const script = `
let locale, lastId = 0;
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const ask = (method, params) => send({ id: ++lastId, method, params });
const make = (name, text, className) => {
  const element = document.createElement(name);
  if (text !== undefined && text !== null) element.textContent = String(text);
  if (className !== undefined) element.className = className;
  return element;
};
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const figure = (value) => (typeof value === "number" ? value.toLocaleString(locale) : "");
const minorDigits = ${JSON.stringify(minorDigitsBeside2)};
const money = (value, currency) => {
  if (typeof value !== "number") return "";
  const digits = minorDigits[currency] ?? 2;
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  try { return value.toLocaleString(locale, { style: "currency", currency, ...decimals }); } catch { return value + " " + currency; }
};
const day = (value) => new Date(value + "T00:00Z").toLocaleDateString(locale, { dateStyle: "medium", timeZone: "UTC" });
const joined = (...parts) => parts.filter((part) => typeof part === "string" && part !== "").join(" · ");

function decision(request) {
  const box = make("section", undefined, "decision");
  const waits = request.status === "pending";
  box.append(make("strong", waits ? "Waits for a decision" : "Request: " + request.status), make("p", request.summary));
  if (!waits) return box;
  if (typeof request.url === "string" && /^https?:/.test(request.url)) {
    const button = make("button", "Approve or reject in OpenPO");
    button.onclick = () => ask("ui/open-link", { url: request.url });
    box.append(button, make("p", "A person who may decide signs in there.", "quiet"));
  } else box.append(make("p", "A person decides in OpenPO, under Approvals.", "quiet"));
  return box;
}

function linesTable(lines, currency) {
  const table = make("table");
  const head = make("tr");
  for (const [name, className] of [["Product"], ["Ordered", "figure"], ["Received", "figure wide"], ["Pending", "figure"], ["Unit cost", "figure wide"]])
    head.append(make("th", name, className));
  table.append(head);
  for (const line of lines.slice(0, ${shownLinesMax})) {
    const row = make("tr");
    const product = make("td", joined(line.productName, line.variantName) || line.sku || line.variantId);
    if (line.sku && product.textContent !== line.sku) product.append(make("div", line.sku, "quiet"));
    row.append(product, make("td", figure(line.quantityOrdered), "figure"), make("td", figure(line.quantityReceived ?? 0), "figure wide"),
      make("td", figure(line.quantityPending), "figure"), make("td", money(line.unitCost, line.unitCostCurrencyCode ?? currency), "figure wide"));
    table.append(row);
  }
  return table;
}

function order({ purchaseOrder, lineItems }) {
  const { currencyCode } = purchaseOrder;
  const lines = (purchaseOrder.lineItems ?? lineItems ?? []).filter(isObject);
  const heading = make("h1", joined(purchaseOrder.poNumber, purchaseOrder.poName));
  heading.append(make("span", purchaseOrder.status, "status"));
  const expected = purchaseOrder.nextExpectedDate;
  const parts = [heading, make("p", joined(purchaseOrder.supplierName, purchaseOrder.locationName, expected && "expected " + day(expected)), "quiet")];
  if (lines.length > 0) parts.push(linesTable(lines, currencyCode));
  const more = lines.length - ${shownLinesMax};
  if (more > 0) parts.push(make("p", more + " more lines", "quiet"));
  const sum = make("p", undefined, "sum");
  sum.append(make("span", joined(figure(purchaseOrder.quantityReceived) + " of " + figure(purchaseOrder.quantityOrdered) + " received", purchaseOrder.paidStatus), "quiet"),
    make("strong", money(purchaseOrder.grandTotal, currencyCode)));
  return [...parts, sum];
}

function show(result) {
  const data = isObject(result?.structuredContent) ? result.structuredContent : {};
  const { approvalRequest } = data;
  const shown = isObject(approvalRequest?.preview) ? { ...approvalRequest.preview, ...data } : data;
  const parts = isObject(approvalRequest) ? [decision(approvalRequest)] : [];
  if (isObject(shown.purchaseOrder)) {
    if (approvalRequest?.status === "pending") parts.push(make("p", "If it is approved:", "quiet"));
    parts.push(...order(shown));
  }
  if (parts.length === 0) parts.push(make("p", shown.error?.message ?? "There is no order to show.", "quiet"));
  document.body.replaceChildren(...parts);
}

function applyContext(context) {
  if (!isObject(context)) return;
  if (context.theme === "light" || context.theme === "dark") document.documentElement.style.colorScheme = context.theme;
  if (typeof context.locale === "string") locale = context.locale;
  for (const [name, value] of Object.entries(context.styles?.variables ?? {}))
    if (name.startsWith("--") && typeof value === "string") document.documentElement.style.setProperty(name, value);
}

addEventListener("message", ({ source, data }) => {
  if (source !== parent || !isObject(data)) return;
  if (data.id === 1 && data.method === undefined) {
    applyContext(data.result?.hostContext);
    send({ method: "ui/notifications/initialized", params: {} });
  } else if (data.method === "ui/notifications/tool-result") show(data.params);
  else if (data.method === "ui/notifications/host-context-changed") applyContext(data.params);
  else if (data.method === "ping" || data.method === "ui/resource-teardown") send({ id: data.id, result: {} });
});
new ResizeObserver(() => {
  const { scrollWidth: width, offsetHeight: height } = document.documentElement;
  send({ method: "ui/notifications/size-changed", params: { width, height } });
}).observe(document.documentElement);
ask("ui/initialize", { appInfo: { name: "openpo-order", version: "1" }, appCapabilities: { availableDisplayModes: ["inline"] }, protocolVersion: "2026-01-26" });`;

/** The view as a document. */
export const orderViewHtml = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Purchase order</title>
<style>${styles}</style></head><body><p class="quiet">…</p><script>${script}</script></body></html>
`;
