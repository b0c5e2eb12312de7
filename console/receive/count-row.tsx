/**
 * A line to receive: what it is, how much of it has come, and boxes for what is typed. It is drawn anew only when its
 * own counts change.
 */
import { useComputed, useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { number } from "../data/format.ts";
import { VariantPicture } from "../parts/picture.tsx";
import { receiveTexts } from "../texts/en/order/receive.ts";
import { addedOf, type CountedLine, type QuantityKind, roomOf, totalOf } from "./amounts.ts";
import { type Box, keyed, untouched } from "./burst.ts";
import type { Counting } from "./counting.ts";
import { type Item, nameOf } from "./lines.ts";

interface RowProps {
  readonly counting: Counting;
  readonly item: Item;
  readonly line: CountedLine;
  readonly toScan: () => void;
}

export const CountRow: FunctionComponent<RowProps & { readonly isWanted: boolean }> = ({ isWanted, ...props }) => {
  const { counting, item, line, toScan } = props;
  const row = useRef<HTMLLIElement>(null);
  // Computed from the line of this drawing: the order may have been read anew.
  const latest = useSignal(line);
  latest.value = line;
  const total = useComputed(() => totalOf(latest.value, counting.counts.value, "received"));
  const mine = useComputed(() => addedOf(counting.counts.value, latest.value.lineId).received);
  const room = useComputed(() => roomOf(latest.value, counting.counts.value));
  useEffect(() => {
    if (isWanted) row.current?.scrollIntoView({ block: "center" });
  }, []);
  const receive = receiveTexts;
  return (
    <li ref={row} class={`${room.value === 0 ? "complete" : ""} ${isWanted ? "wanted" : ""}`} data-line={line.lineId}>
      <div class="what">
        <VariantPicture variantId={line.variantId} />
        <strong>{nameOf(item)}</strong>
        <span class="quiet">{[item.sku, item.barcode].filter((code) => code !== null).join(" · ")}</span>
      </div>
      <div class="how-many">
        <span class="total">{receive.ofBase(number(total.value), number(line.base))}</span>
        {mine.value === 0 ? null : <span class="quiet">{receive.mine(number(mine.value))}</span>}
      </div>
      <QuantityBox {...props} part="received" isLabelled={false} />
      <details>
        <summary>{receive.more}</summary>
        <div class="buttons">
          <QuantityBox {...props} part="rejected" isLabelled />
          <QuantityBox {...props} part="cancelled" isLabelled />
          <button
            type="button"
            disabled={room.value === 0}
            onClick={() => {
              counting.happen({ kind: "short", lineId: line.lineId });
              toScan();
            }}
          >
            {receive.short}
          </button>
        </div>
      </details>
    </li>
  );
};

/**
 * A total that can be typed. Enter counts it and goes back to the scan field; a scan that was made into it counts as a
 * scan.
 */
const QuantityBox: FunctionComponent<RowProps & { readonly part: QuantityKind; readonly isLabelled: boolean }> = ({
  counting,
  item,
  line,
  toScan,
  part,
  isLabelled,
}) => {
  const box = useSignal<Box>(untouched);
  const latest = useSignal(line);
  latest.value = line;
  const total = useComputed(() => String(totalOf(latest.value, counting.counts.value, part)));
  const commit = (text: string): void => counting.happen({ kind: "typed", lineId: line.lineId, part, text });
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    const { key, timeStamp: atMs, currentTarget } = event;
    const after = keyed(box.value, { key, atMs, value: currentTarget.value }, total.value);
    box.value = after.box;
    if (after.does === null) return;
    event.preventDefault();
    if (after.does.kind === "scan") counting.happen(after.does);
    if (after.does.kind === "typed") commit(after.does.text);
    if (after.box.draft === null) toScan();
  };
  const onBlur = (): void => {
    const { draft } = box.value;
    box.value = untouched;
    if (draft !== null && draft !== total.value) commit(draft);
  };
  const name = receiveTexts.parts[part];
  return (
    <label class="quantity">
      <span class={isLabelled ? "" : "hidden"}>
        {name}
        <span class="hidden">: {nameOf(item)}</span>
      </span>
      <input
        inputMode="decimal"
        autocomplete="off"
        value={box.value.draft ?? total.value}
        onInput={(event) => (box.value = { ...box.value, draft: event.currentTarget.value })}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={onBlur}
        onKeyDown={onKeyDown}
      />
    </label>
  );
};
