/**
 * The guides of the OpenAPI document: what a reader needs before the first call, in Markdown. The reference page lists
 * their headings.
 */
const introduction = `One shop's purchasing data as JSON over HTTP. The API key names the shop.`;

const quickstart = `# Quickstart

The first start printed two keys of a demo shop: \`read\` only reads, \`write\` does both. Send one as \`Authorization: Bearer <key>\`; on this
page, enter it under Authentication. The examples are those of the demo shop: sent in the order of this page, each works as it stands.

An order goes from Draft to Completed:

1. Create it: \`POST /api/v1/purchase-orders\` with \`supplierId\`, \`locationId\` and \`lineItems\`.
2. Move it to Sent: \`POST …/status\` with \`{"status": "Sent"}\`. Nothing is sent to the supplier: it says that you did.
3. Record what the supplier confirms: \`POST …/confirm\`, with \`lines\`, or with \`{"confirmAll": true}\` for everything, which also begins work.
4. Record what arrives: \`POST …/receive\` with the total received so far of each line. The storefront's stock follows.
5. Close it: \`POST …/complete\` writes the unit costs.

Every success is \`{ "data", "meta" }\`. \`data.sideEffects\` says what became of the work that follows a change, \`data.warnings\` what looks
wrong with it.`;

const repeating = `# Repeating a write

A write whose answer was lost may have happened. Send a header \`Idempotency-Key\` with a new unique text for each write that you mean. For 24
hours the same request with the same key runs once and gets the same answer, marked \`Idempotent-Replayed: true\`. Another request under the
same key is refused (\`IDEMPOTENCY_KEY_REUSED\`). A failure that may be retried is not kept: repeat it with the same key.

To change only what you have read, send the order's \`ETag\` as \`If-Match\`. If somebody has changed the order since, the answer is 412.`;

const errors = `# Errors

Every failure is \`{ "error": { "code", "message", "retryable", "requestId" } }\`. \`code\` is for programs, \`message\` for people. \`action\` says what
to do next, \`reason\` is a more exact word where failures share a code, and \`details\` names each field, line or variant that is wrong.

When \`retryable\` is true, wait \`retryAfterMs\` (the header \`Retry-After\` has it in seconds), then send the same request again. Other failures
come again until the request or the order is changed. A shop has a bucket of requests; \`RateLimit\` says what is left of it, and an empty one
answers 429.

What is not a readable HTTP request is answered 400, 408 or 431 with the same body. A method that a path does not have is answered 405 with
\`Allow\`; HEAD is answered like GET, OPTIONS with 204.`;

const paging = `# Pages

A list answers \`limit\` rows at most, newest first, and \`totalCount\` of all that match. While \`cursor\` is not null there are more: send it back
unchanged as \`cursor\`, with the same filters. No row comes twice or is left out when others are added or deleted meanwhile. A filter that
takes several values takes them with commas or repeated: \`status=Draft,Sent\` or \`status=Draft&status=Sent\`.`;

/** The document's own text. */
export const guides = [introduction, quickstart, repeating, errors, paging].join("\n\n");
