/** Pieces of statements, put together by what is asked for. */
import type { SqlValue } from "../store/store.ts";

/** A piece of a statement with its parameters. */
export interface Fragment {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** The pieces as one, in their order. */
export const joined = (parts: readonly Fragment[], separator: string): Fragment => ({
  sql: parts.map((part) => part.sql).join(separator),
  params: parts.flatMap((part) => part.params),
});
