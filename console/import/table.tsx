/** The first rows of a file, and the lines that the service refused. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { csvOf } from "../data/csv.ts";
import { fieldName, number } from "../data/format.ts";
import { ChangedFields } from "../activity/change.tsx";
import type { PreviewedType } from "../data/import-file.ts";
import { saveFile } from "../data/saved-file.ts";
import { importTexts } from "../texts/en/shop/import.ts";
import { lineOf, type Mistake, type Preview } from "./preview.ts";

interface TableProps {
  readonly preview: Preview;
  readonly mistakes: readonly Mistake[];
}

export const PreviewTable: FunctionComponent<TableProps> = ({ preview: { head, rows }, mistakes }) => {
  const isWrong = (line: number, column: string | undefined): boolean =>
    mistakes.some((mistake) => mistake.line === line && (mistake.column ?? column) === column);
  return (
    <>
      <h2>{importTexts.preview(rows.length)}</h2>
      {/* A table that is wider than the page is scrolled with the keyboard too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div class="forecast file" tabIndex={0} role="region" aria-label={importTexts.preview(rows.length)}>
        <table>
          <thead>
            <tr>
              <th scope="col">{importTexts.line}</th>
              {head.map((name, index) => (
                <th key={`${index} ${name}`} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ line, cells }) => (
              <tr key={line}>
                <th scope="row">{number(line)}</th>
                {cells.map((cell, index) => (
                  <td
                    key={`${index} ${head[index] ?? ""}`}
                    class={`string ${isWrong(line, head[index]) ? "wrong" : ""}`}
                    title={cell}
                  >
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
};

/** Effects of a file on a type, field by field, and the first records before and after. */
export const FieldsOfType: FunctionComponent<{ readonly of: PreviewedType }> = ({ of: { fields, rows } }) => (
  <>
    <ul>
      {fields.map(({ field, ...counts }) => (
        <li key={field}>
          {fieldName(field)}: {importTexts.counts(counts)}
        </li>
      ))}
    </ul>
    {rows.length === 0 ? null : (
      <details>
        <summary>{importTexts.changes(rows.length)}</summary>
        {rows.map(({ recordId, lineNumber, changes }) => (
          <div key={recordId}>
            <p class="quiet">
              {importTexts.line} {number(lineNumber)}
            </p>
            <ChangedFields changes={changes} />
          </div>
        ))}
      </details>
    )}
  </>
);

interface RefusedProps {
  readonly mistakes: readonly Mistake[];
  readonly file: File;
}

/** Each mistake in words, with the line of the file below. */
export const RefusedNotice: FunctionComponent<RefusedProps> = ({ mistakes, file }) => {
  const text = useSignal<string | null>(null);
  const line = mistakes[0]?.line ?? null;
  useEffect(() => {
    if (line !== null) void lineOf(file, line).then((found) => (text.value = found));
  }, []);
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{importTexts.bad}</strong>
      </p>
      <ul>
        {mistakes.map(({ line: nth, column, text: wrong }, index) => (
          <li key={index}>
            {nth === null ? null : `${importTexts.line} ${number(nth)}${column === null ? "" : `, ${column}`}: `}
            {wrong}
          </li>
        ))}
      </ul>
      {text.value === null ? null : (
        <>
          <p class="quiet">{importTexts.row}</p>
          <pre>{text.value}</pre>
        </>
      )}
      <p>{importTexts.again}</p>
      <button
        type="button"
        onClick={() =>
          saveFile(
            "mistakes.csv",
            csvOf([
              importTexts.heads,
              ...mistakes.map(({ line: nth, column, text: wrong }) => [nth ?? "", column ?? "", wrong]),
            ]),
          )
        }
      >
        {importTexts.download}
      </button>
    </div>
  );
};
