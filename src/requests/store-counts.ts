/**
 * Counts of rows that requests have added to the shops' stores and that sweeps have removed, since the process started
 * (`GET /metrics`).
 */
export class StoreCounts {
  /** Rows added to audit logs. */
  auditRows = 0;
  /** Requests that were answered without an audit row, because the store could not be written (H1). */
  auditRowsMissing = 0;
  sweptAuditRows = 0;
  /** Bytes of answers that were stored under idempotency keys. */
  storedAnswerBytes = 0;
  sweptAnswers = 0;
  sweptAnswerBytes = 0;
}
