/** Number of shown rows of a list, and the button that reads its next page. */
import type { List, Rows } from "../../data/pages.ts";
import { texts } from "../../texts/en/texts.ts";

/** Returns the number of shown rows, in words. Where there is none, or the list could not be read, nothing is said. */
export function howMany(
  { rows, totalCount, isLoading }: Rows<unknown>,
  says: (shown: number, total: number) => string,
): string {
  if (rows.length > 0) return says(rows.length, totalCount);
  return isLoading ? texts.loading : "";
}

interface MoreRowsProps<Row> {
  readonly list: List<Row>;
  readonly label: string;
}

/** Nothing when there is no further page. */
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
