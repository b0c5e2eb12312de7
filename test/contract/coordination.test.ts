import { makePlace, onPostgres, openStore } from "../support/store.ts";
import { coordinationSuite } from "./coordination-suite.ts";

coordinationSuite(onPostgres ? "postgres" : "memory", async (use) => {
  const place = await makePlace();
  const store = await openStore(place.directory);
  try {
    await use(store.coordination);
  } finally {
    await store.close();
    await place.remove();
  }
});
