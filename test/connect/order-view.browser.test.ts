/**
 * The view of an order in a host's frame: sandboxed, under the policy that hosts set by default, with answers of a real
 * service. The host here speaks the extension's protocol (2026-01-26) as far as the view uses it.
 *
 * Only on sqlite: what a frame shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page } from "playwright-core";
import { connectAgent } from "../support/mcp.ts";
import { accessibilityFaultsInThemes } from "../support/pages/axe.ts";
import { apiOf } from "../support/pages/console-shop.ts";
import { endConsole, newPage, picture, skip } from "../support/pages/console.ts";
import { until } from "../support/until.ts";

after(endConsole);

const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'";

/** A host: loads the view, answers its handshake, hands it results, and notes what it asks for. */
const host = (html: string): string => `<!doctype html><html lang="en"><title>Host</title><body style="margin:0">
<iframe title="view" sandbox="allow-scripts" style="border:0;width:100%;height:800px"></iframe><script>
const frame = document.querySelector("iframe");
window.asked = [];
window.hand = (method, params) => frame.contentWindow.postMessage({ jsonrpc: "2.0", method, params }, "*");
addEventListener("message", ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  window.asked.push(data);
  if (data.method === "ui/initialize") {
    const result = { protocolVersion: data.params.protocolVersion, hostInfo: { name: "host", version: "1" }, hostCapabilities: { openLinks: {} },
      hostContext: { locale: "de-DE" } };
    source.postMessage({ jsonrpc: "2.0", id: data.id, result }, "*");
  }
});
frame.srcdoc = ${JSON.stringify(html.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`)).replaceAll("</", String.raw`<\/`)};
</script></body></html>`;

const askedOf = (page: Page, method: string): Promise<readonly unknown[]> =>
  page.evaluate(
    (name) => Object(globalThis).asked.filter((message: { method: string }) => message.method === name),
    method,
  );

const hand = (page: Page, result: object): Promise<void> =>
  page.evaluate((params) => Object(globalThis).hand("ui/notifications/tool-result", params), result);

test(
  "an order and a request that waits are shown in a host's frame, and the decision is the console's",
  { skip },
  async () => {
    const { page, program } = await newPage();
    const { send } = apiOf(program);
    const name = "<img src=x onerror=parent.hacked=1>";
    await send("PATCH", "/po_demo_21", { poName: name });
    const made = await program.ask("POST", "/admin/v1/shops/demo/keys", program.adminToken, {
      name: "A proposing agent",
      scope: "propose",
    });
    const server = { url: program.url, writeKey: String(made.at("data", "apiKey")) };
    await using agent = await connectAgent(server);
    const { tools } = await agent.client.listTools();
    const viewed = tools.filter(({ _meta }) => _meta?.["ui"] !== undefined);
    assert.deepEqual(viewed.map((tool) => tool.name).toSorted(), [
      "approval_request_get",
      "purchase_order_get",
      "purchase_order_status",
    ]);
    const { uri = "" } =
      (await agent.client.listResources()).resources.find((each) => each.uri.startsWith("ui:")) ?? {};
    for (const { _meta } of viewed) assert.deepEqual(_meta, { ui: { resourceUri: uri } });
    const [view] = (await agent.client.readResource({ uri })).contents;
    assert.ok(view !== undefined && "text" in view && view.mimeType === "text/html;profile=mcp-app");
    assert.doesNotMatch(view.text, /https?:\/\//, "it loads nothing");

    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    await page.setContent(host(view.text));
    await until(
      "the view is ready",
      async () => (await askedOf(page, "ui/notifications/initialized")).length === 1 || undefined,
    );
    const frame = page.frameLocator("iframe");
    const called = (tool: string, input: object) => agent.client.callTool({ name: tool, arguments: { ...input } });
    await hand(page, await called("purchase_order_get", { purchaseOrderId: "po_demo_21" }));
    await frame.getByRole("heading", { name: /PO-1021/ }).waitFor();
    assert.ok(await frame.getByText(name).isVisible(), "a text of others stays text");
    assert.equal(await page.evaluate("window.hacked"), undefined);
    assert.equal(await frame.getByRole("row").count(), 3);
    assert.ok(await frame.getByRole("cell", { name: "5,25 €" }).isVisible(), "in the host's locale");
    assert.ok((await askedOf(page, "ui/notifications/size-changed")).length > 0);
    await picture(page, "app-order");

    const asked = await called("purchase_order_status", { purchaseOrderId: "po_demo_24", status: "Sent" });
    const approvalRequest = Object(asked.structuredContent)["approvalRequest"];
    const url = `${program.url}/console/approvals/${approvalRequest.approvalRequestId}`;
    assert.equal(approvalRequest.url, url);
    // Where nobody knows the address of the service.
    await hand(page, { structuredContent: { approvalRequest: { ...approvalRequest, url: null } } });
    await frame.getByText("A person decides in OpenPO, under Approvals.").waitFor();
    await hand(page, {
      structuredContent: { approvalRequest: { ...approvalRequest, url: "javascript:parent.hacked=1" } },
    });
    assert.equal(await frame.getByRole("button").count(), 0, "an address that is no page's");
    await hand(page, { structuredContent: { approvalRequest: { ...approvalRequest, url } } });
    const button = frame.getByRole("button", { name: "Approve or reject in OpenPO" });
    await button.waitFor();
    assert.ok(await frame.getByRole("heading", { name: /PO-1024/ }).isVisible());
    await picture(page, "app-decision");
    await page.setViewportSize({ width: 360, height: 780 });
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, "app-decision-phone");
    assert.ok(((await button.boundingBox())?.height ?? 0) >= 44, "a thumb finds it");
    await button.click();
    const opened = await until("the host is asked", async () => {
      const links = await askedOf(page, "ui/open-link");
      return links.length > 0 ? links : undefined;
    });
    assert.partialDeepStrictEqual(opened, [{ params: { url } }]);
    assert.deepEqual(await accessibilityFaultsInThemes(page), []);
    assert.deepEqual(faults, []);
  },
);
