/**
 * Answers of suppliers by their links (table `supplier_proposal`; C64).
 *
 * Owns: their SQL. Does not own: what accepting one does (core/supplier/supplier-proposals.ts).
 *
 * An order has one open proposal at most. Of those that a newer one has replaced only the latest few are kept. Accepted
 * and rejected ones stay, and each of these took a person.
 */
import type { Fields } from "../../core/order/purchase-order-fields.ts";
import type { ProposedLine, SupplierProposal } from "../../core/supplier/supplier-proposals.ts";
import type { Tx } from "../../store/store.ts";
import { type Change, type Row, changeOf, update, textForm } from "../../store/change.ts";
import { type Columns, columnsOf, insertInto, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";

const proposalFields = {
  proposalId: { kind: "text" },
  purchaseOrderId: { kind: "text" },
  linkId: { kind: "text" },
  state: { kind: "text" },
  reference: { kind: "text", empty: null },
  trackingNumber: { kind: "text", empty: null },
  message: { kind: "text", empty: null },
  createdAtMs: { kind: "instant" },
  decidedAtMs: { kind: "instant", empty: null },
  decidedBy: { kind: "text", empty: null },
} as const satisfies Fields;

const proposalColumns: Columns<SupplierProposal> = {
  ...columnsOf(proposalFields),
  lines: ({ lines }) => JSON.stringify(lines),
};

const proposalFieldsFrom = recordReader<Omit<SupplierProposal, "lines">>(proposalFields);

type ProposalRow = Row & { readonly lines: string };

function proposalFrom(row: ProposalRow): SupplierProposal {
  // Only `proposalStatement` writes it.
  const lines: readonly ProposedLine[] = JSON.parse(row.lines);
  return { ...proposalFieldsFrom(row), lines };
}

const selectProposals = `
select ${Object.keys(proposalColumns).join(", ")} from supplier_proposal where shop_id = ? and purchase_order_id = ?`;

/** Proposals of the order, newest first. */
export async function listSupplierProposals(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  limit: number,
): Promise<readonly SupplierProposal[]> {
  const rows = await tx.all<ProposalRow>(`${selectProposals} order by proposal_id desc limit ?`, [
    shopId,
    purchaseOrderId,
    limit,
  ]);
  return rows.map(proposalFrom);
}

/** The proposal of the order; null when there is none. */
export async function findSupplierProposal(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  proposalId: string,
): Promise<SupplierProposal | null> {
  const [row] = await tx.all<ProposalRow>(`${selectProposals} and proposal_id = ?`, [
    shopId,
    purchaseOrderId,
    proposalId,
  ]);
  return row === undefined ? null : proposalFrom(row);
}

/** The order's open proposal; null when there is none. */
export async function openSupplierProposal(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
): Promise<SupplierProposal | null> {
  const [row] = await tx.all<ProposalRow>(`${selectProposals} and state = 'open'`, [shopId, purchaseOrderId]);
  return row === undefined ? null : proposalFrom(row);
}

/**
 * Adds the open proposal of an order: one that was open before is replaced, and replaced ones beyond `replacedMax` are
 * deleted.
 */
export const newProposalStatements = (
  shopId: string,
  proposal: SupplierProposal,
  replacedMax: number,
): readonly Change[] => {
  const { purchaseOrderId, createdAtMs } = proposal;
  return [
    update(
      tables.supplier_proposal,
      shopId,
      { purchase_order_id: purchaseOrderId, state: "open" },
      { state: "replaced", decided_at: createdAtMs },
    ),
    changeOf(dropReplaced, [shopId, purchaseOrderId, shopId, purchaseOrderId, replacedMax]),
    proposalStatement(shopId, proposal),
  ];
};

/** Deletes the oldest proposals that others have replaced. */
const dropReplaced = textForm(
  tables.supplier_proposal,
  `delete from supplier_proposal where shop_id = ? and purchase_order_id = ? and state = 'replaced'
     and proposal_id not in
       (select proposal_id from supplier_proposal where shop_id = ? and purchase_order_id = ?
          and state = 'replaced' order by proposal_id desc limit ?)`,
  ["shop_id", "purchase_order_id", null, null, null],
);

const storeProposal = insertInto(tables.supplier_proposal, [], proposalColumns, [
  "state",
  "lines",
  "decided_at",
  "decided_by",
]);

/** Stores the proposal, or how far it is now. */
export const proposalStatement = (shopId: string, proposal: SupplierProposal): Change =>
  storeProposal([shopId], proposal);

/** An order whose open proposal waits for somebody. */
interface WaitingProposal {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly supplierName: string | null;
  readonly proposalId: string;
  readonly createdAtMs: number;
}

/** Orders with an open proposal, the one that has waited longest first. */
export async function waitingProposals(tx: Tx, shopId: string, limit: number): Promise<readonly WaitingProposal[]> {
  const rows = await tx.all<{
    readonly purchase_order_id: string;
    readonly po_number: string;
    readonly supplier_name: string | null;
    readonly proposal_id: string;
    readonly created_at: number;
  }>(
    `select p.purchase_order_id, o.po_number, s.name as supplier_name, p.proposal_id, p.created_at
     from supplier_proposal p
     join purchase_order o on o.shop_id = p.shop_id and o.purchase_order_id = p.purchase_order_id and o.deleted_at is null
     left join supplier s on s.shop_id = o.shop_id and s.supplier_id = o.supplier_id
     where p.shop_id = ? and p.state = 'open' order by p.proposal_id limit ?`,
    [shopId, limit],
  );
  return rows.map((row) => ({
    purchaseOrderId: row.purchase_order_id,
    poNumber: row.po_number,
    supplierName: row.supplier_name,
    proposalId: row.proposal_id,
    createdAtMs: row.created_at,
  }));
}
