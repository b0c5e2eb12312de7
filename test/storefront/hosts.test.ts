/** Where a storefront's secret goes: to Shopify's own hosts and those of the operator's list, however another is written (C65). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mayReadResult, medusaOrigin, parseAllowedHosts, shopifyOrigin } from "../../src/storefront/hosts.ts";

const none = new Map<string, string>();
const allowed = parseAllowedHosts("shop.internal:8443,http://127.0.0.1:9000") ?? assert.fail();

/** Addresses inside, among them what clouds tell their machines, in the spellings that a URL takes. */
const inside =
  "127.0.0.1 127.1 localhost 0 [::1] [::ffff:7f00:1] 10.0.0.1 169.254.169.254 2852039166 0xA9FEA9FE 0251.0376.0251.0376 " +
  "[::ffff:a9fe:a9fe] [64:ff9b::a9fe:a9fe] [fd00:ec2::254] [fd20:ce::254] 100.100.100.200 168.63.129.16 192.0.0.192 " +
  "169。254。169。254 metadata.google.internal 127.0.0.1:9001 shop.internal shop.internal:8444";

test("a store of Shopify is one label before myshopify.com, or in the operator's list as it stands there", () => {
  assert.equal(shopifyOrigin("a-shop.myshopify.com", none), "https://a-shop.myshopify.com");
  assert.equal(shopifyOrigin("127.0.0.1:9000", allowed), "http://127.0.0.1:9000");
  const others =
    "myshopify.com a.b.myshopify.com x.myshopify.com.evil.example x.myshopify.com@evil.example evil.example/.myshopify.com " +
    "evil.example#.myshopify.com evil.example\\.myshopify.com x.myshopify.com:22 x.myshopify.com. a_b.myshopify.com x。myshopify。com";
  for (const domain of `${inside} ${others}`.split(" ")) assert.equal(shopifyOrigin(domain, allowed), null, domain);
});

test("a Medusa is in the operator's list, with its scheme and port and nothing behind", () => {
  assert.equal(medusaOrigin("https://shop.internal:8443/", allowed), "https://shop.internal:8443");
  assert.equal(medusaOrigin("http://127.0.0.1:9000", allowed), "http://127.0.0.1:9000");
  const others =
    "shop.internal:8443/x shop.internal:8443@evil.example u@shop.internal:8443 evil.example#shop.internal:8443";
  for (const host of `${inside} ${others}`.split(" "))
    for (const scheme of ["http", "https"]) assert.equal(medusaOrigin(`${scheme}://${host}`, allowed), null, host);
});

test("a result file is read from Shopify's store of them, or a listed host, by its own scheme", () => {
  const may = (url: string): boolean => mayReadResult(new URL(url), allowed);
  assert.ok(may("https://storage.googleapis.com/x?y") && may("https://shop.internal:8443/x"));
  const others = "storage.googleapis.com.evil.example storage.googleapis.com:444 u@storage.googleapis.com";
  for (const host of `${inside} ${others}`.split(" ")) assert.ok(!may(`https://${host}/x`), host);
  assert.ok(!may("http://storage.googleapis.com/x") && !may("file:///etc/passwd"));
});
