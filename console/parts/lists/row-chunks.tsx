/**
 * The rows of a table in blocks. Of a long table only blocks near the visible part are drawn. Each other one is an
 * empty row that is as high as the block was. So 10,000 rows take little memory, and a change draws few of 500 rows
 * anew.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A table of so many rows is drawn whole, so that the browser's own search finds everything in it. */
const drawnWholeMax = 250;

/** Distance beyond the window within which rows are drawn. */
const marginPx = 800;

/** Height of a row until a block of the table was measured. */
const rowHeightGuess = 53;

/** Heights of the blocks of a table, by their number, also for when it is shown again. */
const heightsOf = new WeakMap<object, Map<number, number>>();

interface RowChunksProps<Row> {
  readonly rows: readonly Row[];
  /** Rows of a block. */
  readonly size: number;
  readonly columns: number;
  /** Owner of the remembered heights: the same object when the table is shown again. */
  readonly of: object;
  readonly draw: (row: Row, index: number) => ComponentChildren;
  /** The row that must be drawn wherever the page is. */
  readonly held?: number;
}

export function RowChunks<Row>({ rows, size, columns, of, draw, held }: RowChunksProps<Row>) {
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
  }, []);
  if (rows.length <= drawnWholeMax) return <tbody>{rows.map((row, index) => draw(row, index))}</tbody>;
  const heights = heightsOf.get(of) ?? new Map<number, number>();
  heightsOf.set(of, heights);
  const count = Math.ceil(rows.length / size);
  return (
    <>
      {Array.from({ length: count }, (_, number) => {
        const first = number * size;
        const own = rows.slice(first, first + size);
        return (
          <Chunk
            key={number}
            number={number}
            rowCount={own.length}
            columns={columns}
            heights={heights}
            // What is added at the end is what somebody has asked for.
            startsDrawn={number === 0 || (isShown.current && number === count - 1)}
            isHeld={held !== undefined && held >= first && held < first + size}
            draw={() => own.map((row, index) => draw(row, first + index))}
          />
        );
      })}
    </>
  );
}

interface ChunkProps {
  readonly number: number;
  readonly rowCount: number;
  readonly columns: number;
  readonly heights: Map<number, number>;
  readonly startsDrawn: boolean;
  readonly isHeld: boolean;
  readonly draw: () => ComponentChildren;
}

function Chunk({ number, rowCount, columns, heights, startsDrawn, isHeld, draw }: ChunkProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const isNear = useSignal(startsDrawn);
  const isDrawn = isNear.value || isHeld;
  const wasDrawn = useRef(isDrawn);
  wasDrawn.current = isDrawn;
  useEffect(() => {
    const { current } = body;
    if (current === null) return;
    const note = (height: number): void => {
      if (wasDrawn.current && height > 0) heights.set(number, height);
    };
    const observer = new IntersectionObserver(
      (entries) => {
        // A busy browser tells of several changes at once, the latest last.
        const entry = entries.at(-1);
        if (entry === undefined) return;
        if (!entry.isIntersecting) note(entry.boundingClientRect.height);
        // A field that is being written in stays.
        isNear.value = entry.isIntersecting || current.contains(document.activeElement);
      },
      { rootMargin: `${marginPx}px 0px` },
    );
    observer.observe(current);
    return () => {
      note(current.getBoundingClientRect().height);
      observer.disconnect();
    };
  }, []);
  if (isDrawn) return <tbody ref={body}>{draw()}</tbody>;
  return (
    <tbody ref={body} aria-hidden="true">
      <tr class="undrawn">
        <td colSpan={columns} style={{ blockSize: `${heights.get(number) ?? averageOf(heights, rowCount)}px` }} />
      </tr>
    </tbody>
  );
}

/** A block that was never drawn is as high as the others on average. */
function averageOf(heights: ReadonlyMap<number, number>, rowCount: number): number {
  const known = [...heights.values()];
  return known.length === 0 ? rowCount * rowHeightGuess : known.reduce((sum, height) => sum + height, 0) / known.length;
}
