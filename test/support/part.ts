/** A stand-in for something of which a test gives only the members that are used. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters -- the test says what it stands for
export const part = <T>(members: unknown): T => members as T;
