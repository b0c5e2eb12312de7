/** The shortest story that still fails: steps are taken out, many at a time and then one by one, as long as it fails in the same way. */
import type { Step, Story } from "./story.ts";

/** Plays that shrinking may take. */
const playsMax = 250;

/** What is alike in findings that have the same cause: their words without ids and figures. */
const kindOf = (finding: string): string =>
  finding
    .replace(/^\w+: /, "")
    .replace(/\b(?:po|pol|eff|key|req|run)_\w+/g, "")
    .replace(/\{.*|\[.*/s, "")
    .replace(/[\d.]+/g, "")
    .slice(0, 80);

/**
 * @param plays what a story comes to: its findings.
 * @returns the shortest story that was found, with what it comes to.
 */
export async function shrunk(
  story: Story,
  found: readonly string[],
  plays: (story: Story) => Promise<readonly string[]>,
): Promise<{ readonly story: Story; readonly findings: readonly string[] }> {
  const kinds = new Set(found.map(kindOf));
  let best = { story, findings: found };
  let left = playsMax;
  const fails = async (steps: readonly Step[]): Promise<boolean> => {
    if (left === 0) return false;
    left -= 1;
    const shorter = { ...story, steps };
    const findings = await plays(shorter);
    if (!findings.some((finding) => kinds.has(kindOf(finding)))) return false;
    best = { story: shorter, findings };
    return true;
  };
  const takeOut = async (size: number): Promise<void> => {
    for (let at = 0; at < best.story.steps.length;) {
      const { steps } = best.story;
      if (!(await fails([...steps.slice(0, at), ...steps.slice(at + size)]))) at += size;
    }
  };
  for (let size = Math.ceil(story.steps.length / 2); size > 2; size = Math.floor(size / 2)) await takeOut(size);
  // A step can be in need of one that comes after it.
  for (let before = Infinity; best.story.steps.length < before;) {
    before = best.story.steps.length;
    await takeOut(2);
    await takeOut(1);
  }
  return best;
}
