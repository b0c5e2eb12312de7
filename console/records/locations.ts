/** Locations: the places that goods come to. */
import { openpo, problemOf } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { column } from "../parts/lists/record-columns.tsx";
import { recordTexts as words } from "../texts/en/goods/records.ts";
import { texts } from "../texts/en/texts.ts";
import { spelled, valueOf } from "./fields.ts";
import { addressGroup, askedFor, cameOf, type RecordKind } from "./kinds.ts";

export const locations: RecordKind = {
  kind: "location",
  idField: "locationId",
  isOfStorefront: true,
  groups: [
    {
      title: words.columns.name,
      fields: [{ name: "name", label: words.fields.name, isNeeded: true, isOfStorefront: true }],
    },
    addressGroup,
  ],
  columns: { address: column(words.columns.address) },
  picks: [],
  titleOf: (record) => spelled(valueOf(record, "name")),
  archive: { field: "status", on: "archived", off: "active" },
  async page(query, cursor) {
    const result = await openpo.call("location_list", { shopId: shopId(), ...askedFor(query, cursor) });
    if (!result.ok) return { problem: problemOf(result) };
    const { locations: found, totalCount, cursor: next } = result.data;
    const rows = found.map((record) => {
      const { locationId, name, address, status } = record;
      const parts = [address?.address1, address?.zip, address?.city, address?.country ?? address?.countryCode];
      const shown = parts.filter((part) => part !== null && part !== undefined).join(", ");
      const values = [shown === "" ? texts.orders.none : shown];
      return { record, id: locationId, title: name, hint: null, status, values };
    });
    return { rows, totalCount, cursor: next };
  },
  get: async (locationId) =>
    cameOf(await openpo.call("location_get", { shopId: shopId(), locationId }), ({ location }) => location),
  async create(members, idempotencyKey) {
    const input = { name: "", ...members, shopId: shopId() };
    return cameOf(await openpo.call("location_create", input, { idempotencyKey }), (data) => data.location);
  },
  update: async (locationId, members, ifMatch) =>
    cameOf(
      await openpo.call("location_update", { ...members, shopId: shopId(), locationId }, { ifMatch }),
      (data) => data.location,
    ),
  setArchived: (locationId, isOff, how) =>
    openpo.call("location_update", { shopId: shopId(), locationId, status: isOff ? "archived" : "active" }, how),
  async remove(locationId, ifMatch) {
    const result = await openpo.call("location_delete", { shopId: shopId(), locationId }, { ifMatch });
    return result.ok ? null : problemOf(result);
  },
  Sections: null,
};
