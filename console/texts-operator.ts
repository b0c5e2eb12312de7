/** Texts of the operator's screen. They are loaded with it. */
export const operatorTexts = {
  lead: "You are the operator: every shop of this service.",
  locked:
    "To see what shops hold, and to change settings, give the admin token once more. It stays in this page's memory.",
  unlock: "Show more",
  open: (name: string) => `Open ${name}`,
  columns: { shop: "Shop", orders: "Orders", suppliers: "Suppliers", variants: "Products", keys: "Keys" },
  health: { good: "The service is ready.", bad: "The service is not ready." },
  settings: (name: string) => `Settings of ${name}`,
  restApi: "REST API in the plan",
  capacity: "Requests at once",
  refill: "Requests a second",
  auditDays: "Days that the audit log is kept",
  timezone: "Time zone",
  save: "Save",
  saved: "Saved.",
  sandbox: "The sandbox fails with",
  latency: "Answers after (ms)",
  times: "Times, empty: always",
  noFault: "none",
  setFaults: "Set faults",
} as const;
