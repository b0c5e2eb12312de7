/** A store that a benchmark opens in its own process, and asks as the operator. */
import { askHere } from "../src/admin/ask.ts";
import { SecretBox } from "../src/base/secret-box.ts";
import { noDocuments } from "../src/documents/documents.ts";
import { readConfig } from "../src/service/config.ts";
import { openDataDirectory } from "../src/service/data-directory.ts";
import { openDatabase } from "../src/service/database.ts";
import { onlyGlobal } from "../src/webhooks/addresses.ts";

const silent = { info: () => {}, warn: () => {}, error: console.error };

/** Opens the data directory, or the database that the environment names. */
export async function storeHere(directory: string, environment: NodeJS.ProcessEnv) {
  const config = readConfig(environment);
  const store =
    config.database === null ? await openDataDirectory(directory, silent) : await openDatabase(config.database, silent);
  const ask = askHere(
    store.adminContext({
      wakeOutbox: () => {},
      webhooks: { policy: onlyGlobal, secrets: new SecretBox(null), changed: () => {} },
      documents: noDocuments,
      mailIsOn: false,
      publicUrl: null,
    }),
  );
  return { store, ask };
}
