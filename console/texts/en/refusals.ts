/** Why requests in the activity were refused, by the code of the error. */
export const refusals: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "The access is unknown or has ended.",
  PLAN_REQUIRED: "The shop's plan does not include it.",
  FORBIDDEN_SCOPE: "Its rights do not allow it.",
  INVALID_INPUT: "What was sent was not accepted.",
  NOT_FOUND: "There is none, or none any more.",
  METHOD_NOT_ALLOWED: "That cannot be done there.",
  RATE_LIMITED: "There were too many requests.",
  DO_OVERLOADED: "The service was busy.",
  DO_UNAVAILABLE: "The shop's data could not be reached.",
  UPSTREAM_STOREFRONT: "The storefront did not do it.",
  TIMEOUT: "The storefront did not answer in time.",
  OUTPUT_TOO_LARGE: "The result was too large.",
  INTERNAL: "There was an error in the service.",
  NOTHING_TO_RECEIVE: "No confirmed quantity was left to receive.",
  ON_HAND_SYNC_IN_FLIGHT: "A sync with the storefront was still running.",
  INVENTORY_GUARD_ISSUES: "The storefront cannot take the stock of some products.",
};
