/**
 * Keyboard on the frame: the focus goes to the heading of a place that was gone to, and `?` lists the keys.
 *
 * Only on sqlite: what a browser shows does not depend on the engine.
 */
import { after, test } from "node:test";
import { untilOnPage } from "../../support/pages/console-shop.ts";
import { endConsole, skip, withPerson } from "../../support/pages/console.ts";

after(endConsole);

test("the focus goes to the heading of a place; ? lists the keys, but not while somebody writes", { skip }, () =>
  withPerson("viewer", async (page) => {
    await page.getByRole("link", { name: "PO-1024" }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Suppliers" }).click();
    await page.getByRole("heading", { name: "Suppliers", level: 1 }).waitFor();
    await untilOnPage(page, `document.activeElement.matches("h1") && document.title.startsWith("Suppliers")`);
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("This list").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("searchbox").first().pressSequentially("Mill?");
    await untilOnPage(page, `document.activeElement.value === "Mill?" && document.querySelector("dialog") === null`);
  }),
);
