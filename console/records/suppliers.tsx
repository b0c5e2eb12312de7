/** Suppliers: whom the shop buys from, on what terms, at what prices. */
import { openpo, problemOf } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { chosenColumn, column } from "../parts/lists/record-columns.tsx";
import { ShortDay } from "../parts/when.tsx";
import { recordTexts as words } from "../texts/en/goods/records.ts";
import { texts } from "../texts/en/texts.ts";
import { languageNames } from "../texts/languages.ts";
import { type RecordField, spelled, valueOf } from "./fields.ts";
import { addressGroup, askedFor, cameOf, type RecordKind } from "./kinds.ts";
import { Late, later, openValue } from "./figures/figures.tsx";
import { SupplierCard, SupplierSections } from "./supplier-sections.tsx";

const { columns: titles, fields, supplier } = words;

/** Facts of fields that are no plain texts. */
const facts: Readonly<Record<string, Partial<RecordField>>> = {
  name: { isNeeded: true },
  email: { hint: supplier.emailHint },
  language: { choices: { "": texts.orders.none, ...languageNames } },
  currencyCode: { hint: fields.currencyHint, kind: "code" },
  leadTimeDays: { kind: "number" },
  note: { hint: supplier.noteHint, kind: "lines" },
};

/** The fields that have these names, in their order. */
const fieldsOf = (labels: Readonly<Record<string, string>>): readonly RecordField[] =>
  Object.entries(labels).map(([name, label]) => ({ name, label, ...facts[name] }));

export const suppliers: RecordKind = {
  kind: "supplier",
  idField: "supplierId",
  isOfStorefront: false,
  groups: [
    { title: words.groups.contact, fields: fieldsOf(supplier.contact) },
    { title: words.groups.terms, fields: fieldsOf(supplier.terms) },
    addressGroup,
  ],
  columns: {
    email: column(titles.email),
    openValue: column(titles.openValue, true, true),
    lastOrder: column(titles.lastOrder, false, true),
    late: column(titles.late, true, true),
    leadTime: column(titles.leadTime, true),
    phone: chosenColumn(supplier.contact.phone),
    currency: chosenColumn(titles.currency),
    paymentTerms: chosenColumn(supplier.terms.paymentTerms),
    incoterm: chosenColumn(supplier.terms.incoterm),
  },
  picks: [],
  titleOf: (record) => spelled(valueOf(record, "name")),
  archive: { field: "status", on: "archived", off: "active" },
  async page(query, cursor) {
    const result = await openpo.call("supplier_list", { shopId: shopId(), ...askedFor(query, cursor) });
    if (!result.ok) return { problem: problemOf(result) };
    const { suppliers: found, totalCount, cursor: next } = result.data;
    const ids = found.map(({ supplierId }) => supplierId);
    const shown = later(ids, async () => {
      const answer = await openpo.call("supplier_figures_list", { shopId: shopId(), ids });
      return answer.ok ? new Map(answer.data.suppliers.map((each) => [each.supplierId, each])) : null;
    });
    const rows = found.map((record) => {
      const { supplierId, name, contactName, status, leadTimeDays } = record;
      return {
        record,
        id: supplierId,
        title: name,
        hint: contactName,
        status,
        values: [
          record.email ?? texts.orders.none,
          shown(supplierId, openValue),
          shown(supplierId, ({ lastOrder }) =>
            lastOrder === null ? texts.orders.none : <ShortDay at={lastOrder.orderedOn} />,
          ),
          shown(supplierId, (of) => <Late of={of} />),
          leadTimeDays === null ? texts.orders.none : words.days(leadTimeDays),
          record.phone ?? texts.orders.none,
          record.currencyCode ?? texts.orders.none,
          record.paymentTerms ?? texts.orders.none,
          record.incoterm ?? texts.orders.none,
        ],
      };
    });
    return { rows, totalCount, cursor: next };
  },
  get: async (supplierId) =>
    cameOf(await openpo.call("supplier_get", { shopId: shopId(), supplierId }), ({ supplier }) => supplier),
  async create(members, idempotencyKey) {
    const input = { name: "", ...members, shopId: shopId() };
    return cameOf(await openpo.call("supplier_create", input, { idempotencyKey }), (data) => data.supplier);
  },
  update: async (supplierId, members, ifMatch) =>
    cameOf(
      await openpo.call("supplier_update", { ...members, shopId: shopId(), supplierId }, { ifMatch }),
      (data) => data.supplier,
    ),
  setArchived: (supplierId, isOff, how) =>
    openpo.call("supplier_update", { shopId: shopId(), supplierId, status: isOff ? "archived" : "active" }, how),
  async remove(supplierId, ifMatch) {
    const result = await openpo.call("supplier_delete", { shopId: shopId(), supplierId }, { ifMatch });
    return result.ok ? null : problemOf(result);
  },
  async merge(supplierId, into, ifMatch) {
    const result = await openpo.call("supplier_merge", { shopId: shopId(), supplierId, into }, { ifMatch });
    return result.ok ? null : problemOf(result);
  },
  Card: SupplierCard,
  Sections: SupplierSections,
};
