/**
 * How many tokens a model reads a text as, estimated without a tokenizer. The budgets of the agent surface are held with it (C69).
 *
 * The text is cut as tokenizers of the GPT family cut it before they merge: a word with the mark or space before it (at a capital
 * begins another), up to three digits, a run of other marks. A piece then counts by its length: a common word of a sentence is one
 * token, a part of a name is one up to seven characters. The estimate was fitted to o200k_base: test/mcp/tokens.test.ts has its counts.
 */

const pieces = /[^\r\n\p{L}\p{N}]?\p{Lu}?\p{Ll}+|[^\r\n\p{L}\p{N}]?\p{Lu}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+/gu;

/** Characters of a token in a word of a sentence and in a part of a name. */
const wordLength = 11;
const namePartLength = 7;

export function tokensOf(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(pieces))
    tokens += Math.ceil(piece.length / (piece.startsWith(" ") ? wordLength : namePartLength));
  return tokens;
}
