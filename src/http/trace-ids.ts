/** Random ids of traces and spans, drawn many at a time: a draw for each would take longer than all else about them. */
const pool = new Uint8Array(4_096);

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

let used = pool.length;

/** So many random hexadecimal digits, never all zero. */
export function newTraceId(digits: 16 | 32): string {
  const bytes = digits / 2;
  if (used + bytes > pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  let id = "";
  for (const end = used + bytes; used < end; used += 1) id += hex[pool[used] ?? 0] ?? "";
  return /[^0]/.test(id) ? id : newTraceId(digits);
}
