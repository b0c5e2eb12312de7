/**
 * Links by mail among several nodes (C49): asked for at one, used at another, once.
 *
 * Only on postgres: a data directory has one process.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { signInLinksOfPersonMax } from "../../src/core/access/sign-in-link.ts";
import { askAdmin, cookieOf, fromPage, sendingFrom, signInAs } from "../support/people.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/until.ts";

test("a link that one node has mailed signs in at another, once, and all nodes together mail a person so many", async () => {
  const woken: string[] = [];
  const signInMails = { wake: (shopId: string) => void woken.push(shopId) };
  await using server = await startServer({ console: true, signInMails });
  await using other = await startServer({ console: true, signInMails, beside: server });
  const { personId } = await signInAs(server, "purchaser", "Ana");
  const email = "ana@shop.example";
  const set = await askAdmin(server, "PATCH", `/shops/${server.shopId}/people/${personId}`, { email });
  assert.equal(set.status, 200, set.text);
  const mails = sendingFrom(other);
  const links: string[] = [];
  for (const [count, node] of [server, other, server, other, server, other, server].entries()) {
    assert.equal((await fromPage(node, "POST", "/sign-in-link", { body: { email } })).status, 202);
    await until("the search is over", () => woken.length > count);
    for (const { text } of await mails.send()) links.push(/opm_\S+/.exec(text)?.[0] ?? "");
  }
  assert.equal(links.length, signInLinksOfPersonMax);
  const [link] = links;
  const uses = await Promise.all(
    [server, other, server, other].map((node) => fromPage(node, "POST", "/session", { body: { link } })),
  );
  assert.deepEqual(
    uses.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 401, 401, 401],
  );
  const begun = uses.find(({ status }) => status === 201);
  assert.ok(begun !== undefined);
  const cookie = cookieOf(begun);
  assert.equal((await fromPage(other, "POST", "/token", { cookie })).at("data", "person", "personId"), personId);
  await mails.close();
});
