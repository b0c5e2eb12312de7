/** Rows of the audit log for tests, and the whole verification of a shop's log. */
import type { AuditEntry } from "../../src/shop/audit/audit.ts";
import { type AuditFinding, type AuditProgress, verifyAudit } from "../../src/shop/audit/audit-verification.ts";
import type { Tx } from "../../src/store/store.ts";

/** A row of a read. */
export const auditEntry = (given: Partial<AuditEntry> = {}): AuditEntry => ({
  auditId: "aud_1",
  atMs: 1,
  requestId: "req_1",
  traceId: null,
  spanId: null,
  tag: "rest:purchase_order_list",
  keyId: "key_1",
  personId: null,
  method: "GET",
  path: "/",
  status: 200,
  errorCode: null,
  durationMs: 1,
  replayed: false,
  count: 1,
  ...given,
});

/** A trail that writes nothing. */
export const noTrail = { statements: () => Promise.resolve([]) };

export interface WholeVerification {
  readonly findings: readonly AuditFinding[];
  readonly links: number;
  readonly rows: number;
  readonly unchainedRows: number;
  readonly slices: number;
}

/** Verifies all of a shop's log, so many rows a slice. */
export async function verifyWhole(tx: Tx, shopId: string, rowsMax = 4): Promise<WholeVerification> {
  const findings: AuditFinding[] = [];
  let [links, rows, unchainedRows, slices] = [0, 0, 0, 0];
  let next: AuditProgress | null = { part: "links", at: null };
  while (next !== null) {
    const slice = await verifyAudit(tx, shopId, next, rowsMax);
    findings.push(...slice.findings);
    links += slice.links;
    rows += slice.rows;
    unchainedRows += slice.unchainedRows;
    slices += 1;
    next = slice.next;
  }
  return { findings, links, rows, unchainedRows, slices };
}
