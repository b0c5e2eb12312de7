/** Waits that a program begins with its own bounds, made short for a test: other waits keep their length, so a bound that is gone is seen. */
import { Socket } from "node:net";
import type { TestContext } from "node:test";

/** A wait may begin with what others have left of it: a part that no other of the program's waits is so near to. */
const leftShare = 0.9;

/**
 * Lets every wait of one of these lengths end after `shortMs`, whoever begins it: timers, the silence of sockets, deadlines as signals.
 *
 * @param ofSockets  whether the silence of sockets is shortened too.
 * @returns the lengths that were asked for, in their order.
 */
export function shortened(
  t: TestContext,
  waitsMs: readonly number[],
  { shortMs = 50, ofSockets = true }: { readonly shortMs?: number; readonly ofSockets?: boolean } = {},
): readonly number[] {
  const asked: number[] = [];
  const short = (ms: number | undefined): number | undefined => {
    const wait = waitsMs.find((each) => ms !== undefined && ms <= each && ms > leftShare * each);
    if (wait === undefined) return ms;
    asked.push(wait);
    return shortMs;
  };
  const { setTimeout: timer } = globalThis;
  t.mock.method(globalThis, "setTimeout", (callback: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) =>
    timer(callback, short(ms), ...given),
  );
  const silence = Object.getOwnPropertyDescriptor(Socket.prototype, "setTimeout")?.value;
  t.mock.method(Socket.prototype, "setTimeout", function (this: Socket, ms: number, callback?: () => void) {
    return Reflect.apply(silence, this, [ofSockets ? short(ms) : ms, callback]);
  });
  const deadline = AbortSignal.timeout.bind(AbortSignal);
  t.mock.method(AbortSignal, "timeout", (ms: number) => deadline(short(ms) ?? 0));
  return asked;
}
