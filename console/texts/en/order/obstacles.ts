/** Texts for why something cannot be done with an order now. They load with the order. */

import { isolating } from "../../isolated.ts";

export const obstacleTexts = isolating({
  role: "Your role does not allow it. An owner can change your role.",
  "send-first": "Mark the order as sent first.",
  "confirm-first": "Confirm the order first.",
  "begin-first": "Start work on the order first.",
  "receive-first": "Receive goods first.",
  received: "Goods have been recorded. Correct them on the receive screen.",
  "move-back": "Move the order back first.",
  reopen: "Reopen the order first.",
  held: "Resume the order first.",
  "use-complete": "Goods were received already: complete the order.",
  "cancel-first": "Only drafts and cancelled orders can be deleted. Cancel the order first.",
  "delete-instead": "A draft is deleted instead.",
  "draft-only": "Only drafts can be merged.",
} as const);
