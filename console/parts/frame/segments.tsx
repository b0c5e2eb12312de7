/** One choice of a few, all in sight. */

interface SegmentsProps<Word extends string> {
  readonly label: string;
  readonly words: readonly Word[];
  readonly titles: Readonly<Record<Word, string>>;
  readonly value: Word;
  readonly choose: (word: Word) => void;
}

export function Segments<Word extends string>({ label, words, titles, value, choose }: SegmentsProps<Word>) {
  return (
    <fieldset class="segments">
      <legend>{label}</legend>
      <div>
        {words.map((word) => (
          <button key={word} type="button" aria-pressed={word === value} onClick={() => choose(word)}>
            {titles[word]}
          </button>
        ))}
      </div>
    </fieldset>
  );
}
