/**
 * Answers of reads are compressed for clients that accept gzip, unless they have an ETag: a strong one names its bytes (C37).
 *
 * Only on sqlite: its subject is how an answer is sent, not where its data are.
 */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { compressedBytesMin } from "../../src/http/rest.ts";
import { startServer, type TestServer } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

suite("compression of answers", () => {
  let server: TestServer;
  let orderId: string;

  before(async () => {
    server = await startServer();
    for (let nth = 0; nth < 20; nth += 1) {
      const created = await server.post(orders, { poName: `Order ${nth}`, note: "Ring before. ".repeat(300) });
      orderId = created.textAt("data", "purchaseOrder", "purchaseOrderId");
    }
  });
  after(() => server.stop());

  /** `fetch` decompresses. */
  async function ask(target: string, accept: string, options: RequestInit = {}) {
    const answer = await fetch(server.url + target, {
      ...options,
      headers: { Authorization: `Bearer ${server.writeKey}`, "Accept-Encoding": accept },
    });
    const { headers } = answer;
    const text = await answer.text();
    const parsed: { readonly data?: unknown } = text === "" ? {} : JSON.parse(text);
    return {
      encoding: headers.get("content-encoding"),
      vary: headers.get("vary"),
      sentBytes: Number(headers.get("content-length")),
      bytes: Buffer.byteLength(text),
      data: parsed.data,
    };
  }

  test("a list is sent in the form that the client accepts, with the same data", async () => {
    const plain = await ask(orders, "identity");
    assert.ok(plain.bytes > compressedBytesMin);
    assert.deepEqual([plain.encoding, plain.vary, plain.sentBytes], [null, "Accept-Encoding", plain.bytes]);
    for (const accept of ["gzip", "br, gzip;q=0.5", "*"]) {
      const packed = await ask(orders, accept);
      assert.deepEqual([packed.encoding, packed.vary], ["gzip", "Accept-Encoding"], accept);
      assert.ok(packed.sentBytes < plain.bytes / 4, `${packed.sentBytes} of ${plain.bytes} bytes`);
      assert.deepEqual(packed.data, plain.data);
    }
    for (const accept of ["br", "gzip;q=0"]) assert.equal((await ask(orders, accept)).encoding, null, accept);
    const head = await ask(orders, "gzip", { method: "HEAD" });
    assert.deepEqual([head.encoding, head.bytes], ["gzip", 0]);
  });

  test("an answer with an ETag, a short one, a failure and that of a write are sent as they are", async () => {
    for (const [target, options] of [
      [`${orders}/${orderId}`, {}],
      [`${orders}?limit=1&search=nothing`, {}],
      [`${orders}/po_none`, {}],
      [orders, { method: "POST", body: JSON.stringify({ note: "Ring before. ".repeat(300) }) }],
    ] as const) {
      const sent = await ask(target, "gzip", options);
      assert.deepEqual([sent.encoding, sent.vary, sent.sentBytes], [null, null, sent.bytes], target);
    }
  });
});
