/** Names of the keys and people of the shop, for lists that hold their ids. */
import type { Output } from "../../client/index.ts";
import type { Problem } from "../data/client.ts";
import { useReading } from "../data/reading.ts";
import { hasRole, shopId } from "../data/session.ts";
import { texts } from "../texts/en/texts.ts";
import { type Request, surfaceOf } from "./filters.ts";

export interface Names {
  readonly keys: Output<"key_list">["keys"];
  /** Who sent a request. */
  readonly of: (request: Request) => string;
  readonly problem: Problem | null;
  readonly again: () => Promise<void>;
}

/** Owners alone may read them; for others the lists are empty. */
export function useNames(): Names {
  const input = { shopId: shopId() };
  const keys = useReading("key_list", input, hasRole("owner"));
  const people = useReading("person_list", input, hasRole("owner"));
  const known = keys.data?.keys ?? [];
  return {
    keys: known,
    of: (request) => {
      const { keyId, personId } = request;
      const key = keyId === null ? null : (known.find((each) => each.keyId === keyId)?.name ?? keyId);
      if (personId === null) {
        if (key !== null) return key;
        return surfaceOf(request) === "supplier" ? texts.activity.actorNames.supplier : texts.activity.operator;
      }
      const person = people.data?.people.find((each) => each.personId === personId)?.name ?? texts.activity.deleted;
      return key === null ? person : `${person} (${key})`;
    },
    problem: keys.problem ?? people.problem,
    again: async () => {
      await Promise.all([keys.again(), people.again()]);
    },
  };
}
