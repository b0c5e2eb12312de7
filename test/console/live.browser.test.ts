/**
 * What others change while a screen of the console is being read, or its stream of events is being opened, is shown without asking.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Page, Request } from "playwright-core";
import { endConsole, skip, withPerson } from "../support/pages/console.ts";
import type { RunningProgram } from "../support/process.ts";

after(endConsole);

const orders = "/api/v1/purchase-orders";
const order = `${orders}/po_demo_07`;

/** How long an event takes to a page, and is kept there, on a machine that does nothing else. */
const toldMs = 1_500;

async function rename(program: RunningProgram, poName: string): Promise<void> {
  const changed = await program.ask("PATCH", order, program.word("write key"), { poName });
  assert.equal(changed.status, 200, changed.text);
}

/** Has the next such request wait on its way. @returns when it was sent, and what lets it go on. */
async function held(page: Page, url: string | ((url: URL) => boolean), until: "asked" | "answered") {
  const sent = Promise.withResolvers<Request>();
  const freed = Promise.withResolvers<void>();
  await page.route(
    url,
    async (route) => {
      const answer = until === "answered" ? await route.fetch() : null;
      sent.resolve(route.request());
      await freed.promise;
      await (answer === null ? route.continue() : route.fulfill({ response: answer }));
    },
    { times: 1 },
  );
  return { sent: sent.promise, free: freed.resolve };
}

test("what happens between two screens, before the next one has its stream, is seen", { skip }, () =>
  withPerson("owner", async (page, program) => {
    const link = page.getByRole("link", { name: "PO-1007" });
    await link.waitFor();
    const stream = await held(page, "**/events/stream", "asked");
    await link.click();
    await stream.sent;
    await page.getByRole("heading", { name: "PO-1007" }).waitFor();
    await rename(program, "Renamed before the stream was open");
    stream.free();
    await page.getByRole("heading", { name: "Renamed before the stream was open" }).waitFor();

    // The first stream of a page too.
    const first = await held(page, "**/events/stream", "asked");
    await page.reload();
    await first.sent;
    await page.getByRole("heading", { name: "Renamed before the stream was open" }).waitFor();
    await rename(program, "Renamed before the first stream");
    first.free();
    await page.getByRole("heading", { name: "Renamed before the first stream" }).waitFor();
  }),
);

test("what is told while a screen is being read is seen, though the answer does not have it", { skip }, () =>
  withPerson("owner", async (page, program) => {
    for (const [screen, asked] of [
      ["orders", orders],
      ["orders/po_demo_07", order],
      ["receive/po_demo_07", order],
    ] as const) {
      const name = `Renamed while ${screen} was read`;
      const isWanted = (url: URL): boolean => url.pathname === asked;
      const answer = await held(page, isWanted, "answered");
      const stream = page.waitForResponse("**/events/stream");
      await page.goto(`${program.url}/console/${screen}`);
      await Promise.all([answer.sent, stream]);
      await rename(program, name);
      await page.waitForTimeout(toldMs);
      const again = page.waitForResponse(
        async (response) => isWanted(new URL(response.url())) && (await response.text()).includes(name),
      );
      answer.free();
      await again;
      // Receiving does not show names.
      if (!screen.startsWith("receive")) await page.getByText(name).first().waitFor();
    }
  }),
);
