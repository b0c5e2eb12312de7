/** Revokes a key, after a question. */
import type { FunctionComponent } from "preact";
import { openpo, problemOf } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { texts } from "../texts/en/texts.ts";

interface Revoked {
  readonly keyId: string;
  readonly name: string;
}

/** @param again  reads what shows the key. */
export const RevokeKey: FunctionComponent<{
  readonly shopKey: Revoked;
  readonly again: () => Promise<void>;
  readonly onClose: () => void;
}> = ({ shopKey: { keyId, name }, again, onClose }) => (
  <AskFirst
    title={texts.keys.revokeTitle(name)}
    text={texts.keys.revokeText}
    action={texts.keys.revoke}
    run={async () => {
      const result = await openpo.call("key_revoke", { shopId: shopId(), keyId });
      if (!result.ok) return problemOf(result);
      await again();
      return null;
    }}
    onClose={onClose}
  />
);
