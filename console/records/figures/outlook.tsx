/** A product's sales by week, and its stock as it will be. */
import type { FunctionComponent } from "preact";
import { dayOfYear, number } from "../../data/format.ts";
import { useReading } from "../../data/reading.ts";
import { shopId } from "../../data/session.ts";
import { Course } from "../../parts/course.tsx";
import { ProblemNotice } from "../../parts/problem.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { recordTexts } from "../../texts/en/goods/records.ts";

const { outlook: words, columns } = recordTexts;

export const Outlook: FunctionComponent<{ readonly id: string }> = ({ id }) => {
  const { data, problem, again } = useReading("variant_outlook_get", { shopId: shopId(), variantId: id });
  if (problem !== null) return <ProblemNotice problem={problem} again={() => void again()} />;
  if (data === null) return <Skeleton />;
  const { sales, weeks, onHand, reorderPoint, stockoutDate, sold30d, sold90d } = data.outlook;
  const isSold = sales.some(({ quantity }) => quantity > 0);
  return (
    <section aria-labelledby="outlook">
      <h2 id="outlook">{words.title}</h2>
      <p class="quiet">{isSold ? words.sold(number(sold30d), number(sold90d)) : words.unsold}</p>
      <div class="board">
        {isSold ? (
          <section class="card" aria-label={words.sales}>
            <h3>{words.sales}</h3>
            <Course
              label={words.sales}
              heads={[words.week, words.quantity]}
              points={sales.map(({ week, quantity }) => ({
                name: dayOfYear(week),
                bar: quantity,
                value: null,
                cells: [number(quantity)],
              }))}
              shown={number}
              legend={[["bar", words.byWeek]]}
            />
          </section>
        ) : null}
        {isSold || onHand > 0 || weeks.some(({ incoming }) => incoming > 0) ? (
          <section class="card" aria-label={words.stock}>
            <h3>{words.stock}</h3>
            <Course
              label={words.stock}
              heads={[words.week, columns.onHand, columns.incoming]}
              points={[
                { name: words.today, bar: 0, value: onHand, cells: [number(onHand), number(0)] },
                ...weeks.map(({ week, incoming, projectedOnHand }) => ({
                  name: dayOfYear(week),
                  bar: incoming,
                  value: Math.max(0, projectedOnHand),
                  cells: [number(projectedOnHand), number(incoming)],
                })),
              ]}
              {...(reorderPoint === 0 ? {} : { level: reorderPoint })}
              shown={(value) => number(Math.round(value))}
              legend={[
                ["line", words.left],
                ...(reorderPoint === 0
                  ? []
                  : [["level", words.reorderPoint(number(Math.ceil(reorderPoint)))] as const]),
                ...(weeks.some(({ incoming }) => incoming > 0) ? [["bar", columns.incoming] as const] : []),
                ...(stockoutDate === null || weeks.every(({ projectedOnHand }) => projectedOnHand > 0)
                  ? []
                  : [["out", words.stockout] as const]),
              ]}
            />
          </section>
        ) : null}
      </div>
    </section>
  );
};
