/** A small plot of what is left of a product in the next weeks, in its row of a forecast. */
import type { FunctionComponent } from "preact";
import { number } from "../data/format.ts";
import { today } from "../data/session.ts";
import { reorderTexts } from "../texts/en/goods/reorder.ts";
import { outlookDays, outlookOf } from "./outlook.ts";
import type { ForecastRow } from "./ticked.ts";

const [width, height, margin] = [88, 28, 2];

export const OutlookCell: FunctionComponent<{ readonly row: ForecastRow }> = ({ row }) => {
  const outlook = outlookOf(row, today());
  if (outlook === null) return <td />;
  if (outlook === "undated") return <td class="quiet">{reorderTexts.undated}</td>;
  const { points, outDay } = outlook;
  const most = Math.max(1, ...points.map(([, left]) => left));
  const x = (day: number): number => (day / outlookDays) * width;
  const y = (left: number): number => height - margin - (left / most) * (height - 2 * margin);
  const line = points.map(([day, left]) => `${x(day).toFixed(1)},${y(left).toFixed(1)}`).join(" ");
  const says = outDay === null ? reorderTexts.lasts(number(outlookDays)) : reorderTexts.out(number(Math.floor(outDay)));
  return (
    <td class="outlook" title={says}>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={says}>
        <line class="ground" x1={0} x2={width} y1={height - margin} y2={height - margin} />
        <polyline class="line" points={line} />
        {outDay === null ? null : <circle class="dot" cx={x(outDay)} cy={height - margin} r={2.5} />}
      </svg>
    </td>
  );
};
