import { makePlace, onPostgres, openStore } from "../support/store.ts";
import { coordinationSuite, type Prepare } from "./coordination-suite.ts";

const many = onPostgres ? 1_000 : 12_000;
const prepare: Prepare = async (use) => {
  const place = await makePlace();
  const store = await openStore(place.directory);
  try {
    await use(store.coordination);
  } finally {
    await store.close();
    await place.remove();
  }
};

coordinationSuite(onPostgres ? "postgres" : "memory", prepare, many);
