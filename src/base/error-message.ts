/** Messages of what was thrown, which may be no error. */

/** The message of an error; anything else as a text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
