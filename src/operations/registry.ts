/**
 * Every operation there is. Surfaces, documents and generated tests read this list and nothing else.
 */
import type { Operation } from "./operation.ts";

export const operations: readonly Operation[] = [];
