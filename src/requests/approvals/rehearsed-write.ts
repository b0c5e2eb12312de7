/** Running a write in full and taking it back, to see what it does to which orders (C77, C80). */
import { changeDigest, type MailSent, type OrderStates } from "../../core/access/approvals.ts";
import type { FieldChange, PurchaseOrder } from "../../core/order/purchase-order.ts";
import { changesOfRequest } from "../../shop/order/purchase-order-history.ts";
import { loadOrder } from "../../shop/order/purchase-orders.ts";
import { type Mail, loadMail } from "../../shop/supplier/mails.ts";
import type { Tx } from "../../store/store.ts";
import { memberOf } from "../../base/json.ts";
import type { Answer, Call, Committed, Rehearsal } from "../operation.ts";
import { awaitedOf } from "../write/awaited.ts";

/** The change that a write would make. */
export interface RehearsedWrite extends Rehearsal {
  /** `changeDigest` of its last change. */
  readonly digest: string;
  readonly changes: readonly FieldChange[];
  /** The order that it is about: as it would be, or as it is where it would be deleted. Null: none, or several. */
  readonly order: PurchaseOrder | null;
  /** Name of the record that it is about; null: it is about orders. */
  readonly recordName: string | null;
}

type Found = Pick<RehearsedWrite, "digest" | "changes" | "order" | "recordName">;

/** Runs the write and takes it back. @throws Fault what it would be refused with. */
export async function rehearsedWrite(
  call: Call,
  input: unknown,
  run: (call: Call) => Promise<Answer<unknown>>,
): Promise<RehearsedWrite> {
  const { shopId } = call.shop;
  const found: Found[] = [];
  const rehearsal = await call.rehearse(async (dry) => {
    const requestId = call.ids.next("req");
    const before = await dry.read((tx) => ordersNamed(tx, shopId, input));
    let seen: Pick<WriteSeen, "digest" | "mails"> | null = null;
    let record: Committed<unknown>["record"];
    const answer = await run({
      ...dry,
      requestId,
      commit: (work) =>
        dry.commit(async (tx) => {
          const committed = await work(tx);
          seen = await seenAfter(tx, shopId, before, committed);
          ({ record } = committed);
          return committed;
        }),
    });
    found.push(
      await dry.read(async (tx) => {
        const orders = await ordersAfter(tx, shopId, before, answer);
        const [only] = orders.length === 1 ? orders : [];
        return {
          digest: seen?.digest ?? changeDigest(orders, answer.data),
          changes: [
            ...(seen?.mails ?? []).map(mailShown),
            ...(await changesOfRequest(tx, shopId, requestId)),
            ...(record?.changes ?? []).map((change) => ({ ...change, poLineItemId: null })),
          ],
          recordName: record?.name ?? null,
          order: only?.after ?? only?.before ?? null,
        };
      }),
    );
    return answer;
  });
  const last = found.at(-1);
  if (last === undefined) throw new Error("a rehearsal has seen nothing");
  return { ...rehearsal, ...last };
}

/** Orders as they are before a write, by id. */
type OrdersBefore = ReadonlyMap<string, PurchaseOrder | null>;

/** The orders that the input of a write names. */
export async function ordersNamed(tx: Tx, shopId: string, input: unknown): Promise<OrdersBefore> {
  const orders = new Map<string, PurchaseOrder | null>();
  for (const purchaseOrderId of new Set(orderIdsIn(input)))
    orders.set(purchaseOrderId, await loadOrder(tx, shopId, purchaseOrderId));
  return orders;
}

/** Effects of a write's last change. */
interface WriteSeen {
  readonly digest: string;
  readonly mails: readonly MailSent[];
}

/** Looks at what a write's last change has done, in its transaction: nothing is known of its effects yet. */
export async function seenAfter(
  tx: Tx,
  shopId: string,
  before: OrdersBefore,
  committed: Committed<unknown>,
): Promise<WriteSeen> {
  const answer = committed.answer(awaitedOf(committed).pending);
  const orders = await ordersAfter(tx, shopId, before, answer);
  const mails: MailSent[] = [];
  for (const mailId of committed.mailIds ?? [])
    for (const order of orders) {
      const mail = await loadMail(tx, shopId, (order.after ?? order.before)?.purchaseOrderId ?? "", mailId);
      if (mail !== null) mails.push(mailSent(mail));
    }
  return { digest: changeDigest(orders, answer.data, mails), mails };
}

const mailSent = ({ recipients, content, documents }: Mail): MailSent => ({
  recipients: recipients.map(({ address, role }) => ({ address, role })),
  subject: content.subject,
  text: content.text,
  contentTypes: documents.map(({ contentType }) => contentType),
});

/** A mail among the changes that are shown to who decides. */
const mailShown = ({ recipients }: MailSent): FieldChange => ({
  field: "email",
  poLineItemId: null,
  before: null,
  after: recipients.map(({ address }) => address).join(", "),
});

/** The orders that a write was about, before and after it. */
async function ordersAfter(
  tx: Tx,
  shopId: string,
  before: OrdersBefore,
  { data }: Answer<unknown>,
): Promise<readonly OrderStates[]> {
  const shown = orderIdsIn([memberOf(data, "purchaseOrder"), memberOf(data, "drafts")]);
  const orders: OrderStates[] = [];
  for (const purchaseOrderId of new Set([...before.keys(), ...shown]))
    orders.push({ before: before.get(purchaseOrderId) ?? null, after: await loadOrder(tx, shopId, purchaseOrderId) });
  return orders;
}

/** Every id of an order in a value, lists and members of members too. */
function orderIdsIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
    name === "purchaseOrderId" && typeof member === "string" ? [member] : orderIdsIn(member),
  );
}
