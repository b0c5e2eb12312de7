/** Every operation of the operator. */
import { auditLog } from "./audit-log.ts";
import { followEvents, listEvents } from "./events.ts";
import { exportFile, importFile, snapshotFile } from "./exchange.ts";
import { createKey, listKeys, revokeKey } from "./keys.ts";
import type { AdminOperation } from "./operation.ts";
import { patchSandboxVariant, putSandboxFaults, sandboxState } from "./sandbox.ts";
import { deleteShop, getShop, listShops, putShop } from "./shops.ts";

export const adminOperations: readonly AdminOperation[] = [
  putShop,
  listShops,
  getShop,
  deleteShop,
  createKey,
  listKeys,
  revokeKey,
  auditLog,
  listEvents,
  followEvents,
  importFile,
  exportFile,
  snapshotFile,
  sandboxState,
  patchSandboxVariant,
  putSandboxFaults,
];
