/** Texts of the search for everything, and of the list of keys. */
import { isolating } from "../isolated.ts";

export const findTexts = isolating({
  title: "Search or do",
  hint: "Orders, products, suppliers, places, actions",
  nothing: "Nothing found.",
  groups: {
    actions: "Do",
    places: "Go to",
    orders: "Orders",
    products: "Products",
    suppliers: "Suppliers",
    locations: "Locations",
  },
  newOrder: "New order",
  invite: "Invite somebody",
  keysHelp: "Keys of the keyboard",
  dark: "Dark theme",
  light: "Light theme",
  compact: "Compact rows",
  comfortable: "Comfortable rows",
  signOut: "Sign out",
  close: "Close",
  keys: {
    title: "Keys",
    rows: [
      ["Ctrl K, ⌘ K", "Search for everything, or do something"],
      ["?", "This list"],
      ["Ctrl B, ⌘ B", "Fold the sidebar, or unfold it"],
      ["/", "Search in the list"],
      ["N", "New order, from the list of orders"],
      ["X", "Select the row of the list; Shift with a press selects up to there"],
      ["↑ ↓ ← →", "Walk through lines and forecasts"],
      ["Enter", "Edit a cell; save it and go down"],
      ["Escape", "Give up, or close"],
      ["Ctrl Z, ⌘ Z", "Undo what was just done, while that is offered"],
      ["Space", "Tick a product to reorder"],
    ],
  },
} as const);
