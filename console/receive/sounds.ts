/**
 * Sounds of a scan: one short high tone when it counted, two low ones for an unknown code, a falling pair for too much.
 */
import type { Outcome } from "./events.ts";

type Tone = readonly [hertz: number, fromMs: number, forMs: number];

const counts: readonly Tone[] = [[1_320, 0, 70]];
const unknown: readonly Tone[] = [
  [220, 0, 160],
  [220, 220, 160],
];
const tooMuch: readonly Tone[] = [
  [660, 0, 130],
  [440, 150, 220],
];

const sounds: Readonly<Record<Outcome["kind"], readonly Tone[]>> = {
  counted: counts,
  "counted-all": counts,
  undone: counts,
  unknown,
  ambiguous: unknown,
  unreadable: unknown,
  over: tooMuch,
  complete: tooMuch,
  below: tooMuch,
  nothing: [],
};

let context: AudioContext | null = null;

/** Plays the sound of an outcome. Without a sound device nothing happens. */
export function play(kind: Outcome["kind"]): void {
  const tones = sounds[kind];
  if (tones.length === 0) return;
  context ??= new AudioContext();
  // A page may sound once somebody has touched it.
  if (context.state === "suspended") void context.resume().catch(() => undefined);
  for (const [hertz, fromMs, forMs] of tones) {
    const oscillator = new OscillatorNode(context, { frequency: hertz });
    const volume = new GainNode(context, { gain: 0.2 });
    oscillator.connect(volume).connect(context.destination);
    const at = context.currentTime + fromMs / 1_000;
    oscillator.start(at);
    oscillator.stop(at + forMs / 1_000);
  }
}
