/** Lists that the console saves as CSV (C62: no cell begins a formula). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf } from "../../console/data/csv.ts";

test("no cell of a saved list begins a formula; what is none stays as it is, behind the mark of UTF-8", () => {
  for (const sign of "=+-@|%＝＋－＠｜％﹢﹣﹦﹫−")
    for (const before of ["", " ", "\u00a0", "\u200b", "\ufeff"]) {
      const text = `${before}${sign}1`;
      assert.equal(csvOf([[text]]), `\ufeff'${text}\r\n`, JSON.stringify(text));
      assert.equal(csvOf([[`a;${text}`]]), `\ufeffa;'${text}\r\n`, JSON.stringify(text));
    }
  assert.equal(csvOf([["\t=1"]]), "\ufeff'\t=1\r\n");
  assert.equal(csvOf([["\u001b[2J\u202ex"]]), "\ufeff [2J x\r\n");
  assert.equal(csvOf([["a-b = c", 'say "hi", you', -1.5]]), '\ufeffa-b = c,"say ""hi"", you",-1.5\r\n');
});
