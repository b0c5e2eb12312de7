/** The button that reads the next page of a list; nothing when there is none. */
import type { List } from "../data/pages.ts";
import { texts } from "../texts.ts";

interface MoreRowsProps<Row> {
  readonly list: List<Row>;
  readonly label: string;
}

export function MoreRows<Row>({ list, label }: MoreRowsProps<Row>) {
  const { hasMore, isLoading } = list.state.value;
  if (!hasMore) return null;
  return (
    <p class="more">
      <button type="button" disabled={isLoading} onClick={() => void list.more()}>
        {isLoading ? texts.loading : label}
      </button>
    </p>
  );
}
