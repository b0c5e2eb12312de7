/**
 * The parties of an order as they were called when it left Draft (table `purchase_order_parties`). A name or an address
 * that changes later changes no paper of an order that was sent (C62). An imported order has none until it is moved.
 */
import type { Address, Header } from "../../core/order/purchase-order.ts";
import { remove } from "../../store/change.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";

const keepParties = `
insert into purchase_order_parties (shop_id, purchase_order_id, shop_name, supplier_id, supplier_name, supplier_address, supplier_email,
  location_id, location_name, location_address)
select o.shop_id, o.purchase_order_id, h.name, o.supplier_id, s.name, s.address, s.email, o.location_id, p.name, p.address
from purchase_order o
  join shop h on h.shop_id = o.shop_id
  left join supplier s on s.shop_id = o.shop_id and s.supplier_id = o.supplier_id
  left join location p on p.shop_id = o.shop_id and p.location_id = o.location_id
where o.shop_id = ? and o.purchase_order_id = ?
on conflict (shop_id, purchase_order_id) do update set shop_name = excluded.shop_name,
  supplier_id = excluded.supplier_id, supplier_name = excluded.supplier_name, supplier_address = excluded.supplier_address,
  supplier_email = excluded.supplier_email, location_id = excluded.location_id, location_name = excluded.location_name,
  location_address = excluded.location_address`;

type PartiesOf = Pick<Header, "purchaseOrderId" | "status" | "supplierId" | "locationId">;

/**
 * Keeps the parties of an order that leaves Draft or gets other ones; forgets those of one that is a Draft again.
 * They run after the order is stored.
 */
export function partiesStatements(shopId: string, before: PartiesOf | null, next: PartiesOf): readonly Statement[] {
  const params = [shopId, next.purchaseOrderId];
  const wasDraft = before === null || before.status === "Draft";
  if (next.status === "Draft")
    return wasDraft ? [] : [remove(tables.purchase_order_parties, shopId, { purchase_order_id: next.purchaseOrderId })];
  const isSame = !wasDraft && before.supplierId === next.supplierId && before.locationId === next.locationId;
  return isSame ? [] : [{ sql: keepParties, params }];
}

interface NamedParty {
  readonly name: string;
  readonly address: Address | null;
}

/** The parties that are kept of an order; null: none, or another one than the order's. */
interface KeptParties {
  readonly shopName: string | null;
  readonly supplier: (NamedParty & { readonly email: string | null }) | null;
  readonly location: NamedParty | null;
}

interface PartiesRow {
  readonly shop_name: string;
  readonly supplier_id: string | null;
  readonly supplier_name: string | null;
  readonly supplier_address: string | null;
  readonly supplier_email: string | null;
  readonly location_id: string | null;
  readonly location_name: string | null;
  readonly location_address: string | null;
}

const addressFrom = (text: string | null): Address | null => (text === null ? null : JSON.parse(text));

export async function loadParties(tx: Tx, shopId: string, order: PartiesOf): Promise<KeptParties> {
  const [row] = await tx.all<PartiesRow>(
    `select shop_name, supplier_id, supplier_name, supplier_address, supplier_email, location_id, location_name, location_address
     from purchase_order_parties where shop_id = ? and purchase_order_id = ?`,
    [shopId, order.purchaseOrderId],
  );
  if (row === undefined) return { shopName: null, supplier: null, location: null };
  const { supplier_name: supplierName, location_name: locationName } = row;
  return {
    shopName: row.shop_name,
    supplier:
      supplierName === null || row.supplier_id !== order.supplierId
        ? null
        : { name: supplierName, address: addressFrom(row.supplier_address), email: row.supplier_email },
    location:
      locationName === null || row.location_id !== order.locationId
        ? null
        : { name: locationName, address: addressFrom(row.location_address) },
  };
}
