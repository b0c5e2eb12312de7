import { makePlace, onPostgres, openStore, type Store } from "../support/store.ts";
import { engineSuite } from "./engine-suite.ts";

engineSuite(
  onPostgres ? "postgres" : "sqlite",
  async () => {
    const place = await makePlace();
    const opened: Store[] = [];
    return {
      async open(options = {}) {
        const store = await openStore(place.directory, options);
        opened.push(store);
        return store.engine;
      },
      async dispose() {
        for (const store of opened) await store.close();
        await place.remove();
      },
    };
  },
  onPostgres,
);
