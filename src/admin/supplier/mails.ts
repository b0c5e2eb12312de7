/** E-mails of an order to its supplier (C63): those that were asked for, and what the next one would say by itself. */
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import { mailAddressesFrom } from "../../core/supplier/mail.ts";
import { defaultMailMessage, defaultMailSubject, linkPlace } from "../../core/supplier/mail-texts.ts";
import { pageShape, shownId } from "../../operations/fields.ts";
import { purchaseOrderId } from "../../operations/purchase-orders/json.ts";
import { replacedVersion } from "../../operations/purchase-orders/mail.ts";
import { mailJson, mailSchema, retryMail, sendOrder } from "../../operations/purchase-orders/send.ts";
import { loadSupplierEmail } from "../../shop/catalogue/catalogue.ts";
import { loadDocumentSettings } from "../../shop/supplier/document-settings.ts";
import { listMails, mailedBefore } from "../../shop/supplier/mails.ts";
import { loadHeader } from "../../shop/order/purchase-orders.ts";
import { data, inShop, operation, performed, shopOf } from "../operation.ts";

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
