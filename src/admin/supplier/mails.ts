/** E-mails of an order to its supplier (C63): those that were asked for, and what the next one would say by itself. */
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import { failedMailKeptMs, mailAddressesFrom } from "../../core/supplier/mail.ts";
import { defaultMailMessage, defaultMailSubject, linkPlace } from "../../core/supplier/mail-texts.ts";
import { instant, pageShape, shownId } from "../../operations/fields.ts";
import { purchaseOrderId } from "../../operations/purchase-orders/json.ts";
import { replacedVersion } from "../../operations/purchase-orders/mail.ts";
import { mailJson, mailSchema, retryMail, sendOrder } from "../../operations/purchase-orders/send.ts";
import { loadSupplierEmail } from "../../shop/catalogue/catalogue.ts";
import { loadDocumentSettings } from "../../shop/supplier/document-settings.ts";
import { failedMails, listMails, mailedBefore } from "../../shop/supplier/mails.ts";
import { loadHeader } from "../../shop/order/purchase-orders.ts";
import { data, inShop, operation, performed, shopOf } from "../operation.ts";
import { pageOfWhole, wholeList } from "../whole-lists.ts";

export const sendOrderMail = performed("purchaser", sendOrder);

export const retryOrderMail = performed("purchaser", retryMail);

export const listOrderMails = operation({
  name: "purchase_order_mail_list",
  route: { method: "GET", path: "/shops/{shopId}/purchase-orders/{purchaseOrderId}/mails" },
  role: "viewer",
  describes: {
    summary: "E-mails of an order, newest first.",
    description:
      "The latest 50, each with who has it, what it attached and how it stands. `next` says whether the service sends e-mail, and what one would say for which nothing is given.",
    output: z.strictObject({
      mails: z.array(mailSchema),
      ...pageShape,
      next: z.strictObject({
        isOn: z.boolean(),
        to: z.string().nullable(),
        subject: z.string(),
        message: z.string(),
        messageWithLink: z.string().meta({ description: `With supplierLink; the link will stand at ${linkPlace}.` }),
      }),
    }),
  },
  input: z.strictObject({ ...inShop, purchaseOrderId }),
  async run({ engine, mailIsOn }, { shopId: id, purchaseOrderId: orderId }) {
    return await engine.read(id, async (tx) => {
      const [shop, order, { mails, totalCount }, { language }] = await Promise.all([
        shopOf(tx, id),
        loadHeader(tx, id, orderId),
        listMails(tx, id, orderId),
        loadDocumentSettings(tx, id),
      ]);
      if (order === null) throw new Fault("NOT_FOUND", `There is no purchase order ${shownId(orderId)}.`);
      const version = order.status === "Draft" ? order.version + 1 : order.version;
      const mailed = await mailedBefore(tx, id, orderId, version);
      const to = order.supplierId === null ? null : await loadSupplierEmail(tx, id, order.supplierId);
      const named = { poNumber: order.poNumber, shopName: shop.name, language };
      return data({
        mails: mails.map(mailJson),
        totalCount,
        cursor: null,
        next: {
          isOn: mailIsOn,
          to: to === null || mailAddressesFrom(to).wrong !== null ? null : mailAddressesFrom(to).addresses.join(", "),
          subject: defaultMailSubject(named, replacedVersion(shop.timezone, mailed)),
          message: defaultMailMessage(named, false),
          messageWithLink: defaultMailMessage(named, true),
        },
      });
    });
  },
});

/** Orders of which the list of failed e-mails shows that theirs has failed. */
const failedListedMax = 50;

export const listFailedMails = operation({
  name: "failed_mail_list",
  route: { method: "GET", path: "/shops/{shopId}/failed-mails" },
  role: "viewer",
  describes: {
    summary: "Orders that read Sent while their latest e-mail has failed, the latest first.",
    description: `Those of the last 30 days, at most ${failedListedMax}.`,
    output: z.strictObject({
      mails: z.array(
        z.strictObject({
          mailId: z.string(),
          purchaseOrderId: z.string(),
          poNumber: z.string(),
          supplierName: z.string().nullable(),
          detail: z
            .string()
            .nullable()
            .meta({ description: "Who does not have it and why, in the mail server's words." }),
          settledAt: z.string(),
        }),
      ),
      ...pageShape,
    }),
  },
  input: z.strictObject({ ...inShop, ...wholeList }),
  async run({ engine, clock }, { shopId, ...page }) {
    const failed = await engine.read(shopId, async (tx) => {
      await shopOf(tx, shopId);
      return await failedMails(tx, shopId, clock.now() - failedMailKeptMs, failedListedMax);
    });
    const rows = failed.map(({ settledAtMs, ...row }) => ({ ...row, settledAt: instant(settledAtMs) }));
    const scope = { list: "failed-mails", shopId, filters: {} };
    return pageOfWhole({ scope, name: "mails", rows, idOf: ({ mailId }) => mailId }, page);
  },
});
