/** Values of one `in (…)`: as many as every engine takes, more of them in several statements (architecture, "One SQL text: rules"). */

export const inListMax = 90;

export const placeholders = (count: number): string => Array.from({ length: count }, () => "?").join(", ");

export function chunksOf<T>(values: readonly T[], size: number): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  for (let start = 0; start < values.length; start += size) chunks.push(values.slice(start, start + size));
  return chunks;
}

/** What a statement finds for these values, asked for as many at a time as it takes, all side by side; repeats are left out. */
export async function inChunks<R>(
  values: readonly string[],
  ask: (chunk: readonly string[]) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  return (await Promise.all(chunksOf([...new Set(values)], inListMax).map(ask))).flat();
}
