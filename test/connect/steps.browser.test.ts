/**
 * Everybody finds how an assistant is connected, with what to copy for each and pictures of our side.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { accessibilityFaultsInThemes } from "../support/pages/axe.ts";
import { untilOnPage } from "../support/pages/console-shop.ts";
import { endConsole, picture, skip, withPerson } from "../support/pages/console.ts";

after(endConsole);

/** Addresses of the pictures that are shown. */
const shownPictures = `[...document.querySelectorAll(".pictures img")].map((image) => image.naturalWidth > 0 ? image.currentSrc : "")`;

test(
  "a viewer finds the steps of each assistant, what to copy, and pictures of our side in the page's theme",
  { skip },
  () =>
    withPerson("viewer", async (page, program) => {
      await page.getByRole("button", { name: /^Ana the viewer/ }).click();
      await page.getByRole("link", { name: "Connect an assistant" }).click();
      await page.getByRole("heading", { name: "Connect an assistant" }).waitFor();
      const address = `${program.url}/mcp`;
      assert.equal(await page.getByRole("textbox", { name: "Address" }).inputValue(), address);
      for (const [name, copied] of [
        ["Claude", null],
        ["ChatGPT", null],
        ["Claude Code", `claude mcp add --transport http openpo ${address}`],
        ["VS Code", `{"servers":{"openpo":{"type":"http","url":"${address}"}}}`],
        ["Cursor", `{"mcpServers":{"openpo":{"url":"${address}"}}}`],
        ["Codex", `codex mcp add openpo --url ${address}`],
      ] as const) {
        await page.getByRole("button", { name, exact: true }).click();
        const field = page.getByRole("textbox", { name, exact: true });
        assert.equal(await field.count(), copied === null ? 0 : 1, name);
        // Who connects from the internet is told that this address is none of it.
        assert.equal(await page.getByText("takes an https address only").count(), copied === null ? 1 : 0, name);
        assert.equal(await page.getByRole("listitem").count(), 3, name);
        if (copied === null) continue;
        const text = await field.inputValue();
        assert.equal(text.startsWith("{") ? JSON.stringify(JSON.parse(text)) : text, copied);
      }
      for (const theme of ["Dark", "Light"]) {
        await page.getByRole("button", { name: /^Ana the viewer/ }).click();
        await page.getByRole("button", { name: theme, exact: true }).click();
        await page.keyboard.press("Escape");
        await page.locator(".pictures").scrollIntoViewIfNeeded();
        await untilOnPage(
          page,
          `${shownPictures}.filter((src) => src.includes("-${theme.toLowerCase()}-")).length === 2`,
        );
      }
      await page.getByText("Nobody has tried them with OpenPO").waitFor();
      await page.getByRole("button", { name: "VS Code", exact: true }).click();
      await page.getByRole("button", { name: /^Ana the viewer/ }).click();
      await page.getByRole("button", { name: "System", exact: true }).click();
      await page.keyboard.press("Escape");
      await picture(page, "connect-steps");
      assert.deepEqual(await accessibilityFaultsInThemes(page), []);
    }),
);

test("an owner comes to the steps from the keys", { skip }, () =>
  withPerson("owner", async (page, program) => {
    await page.goto(`${program.url}/console/keys`);
    await page.getByRole("link", { name: "Step by step" }).click();
    await page.getByRole("heading", { name: "Connect an assistant" }).waitFor();
  }),
);
