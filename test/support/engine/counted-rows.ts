import type { Tx } from "../../../src/store/store.ts";

/** A transaction that counts the rows that are read in it. */
export function countingRows(tx: Tx): { readonly counting: Tx; readonly rows: () => number } {
  let count = 0;
  const counting: Tx = {
    all: async <R>(...[sql, params]: Parameters<Tx["all"]>): Promise<R[]> => {
      const found = await tx.all<R>(sql, params);
      count += found.length;
      return found;
    },
    batch: (statements) => tx.batch(statements),
  };
  return { counting, rows: () => count };
}
