import { forecastViewInput, forecastViewJson } from "../operations/forecast-views.ts";
import { checkInput } from "../operations/input.ts";
import {
  type ForecastView,
  type ViewPosition,
  forecastViewStatements,
  listForecastViews,
} from "../shop/forecast-views.ts";
import type { ReferenceType } from "./record-type.ts";

/** Forecast views: their filters are rows of their own. Both forms of text are those that `parse` and `page` wrote. */
export const forecastViewType: ReferenceType = {
  input: forecastViewInput,
  parse(record) {
    const view = checkInput(forecastViewInput, record);
    return { recordId: view.viewId, stored: JSON.stringify(view) };
  },
  statements(shopId, stored) {
    const view: ForecastView = JSON.parse(stored);
    return forecastViewStatements(shopId, view);
  },
  async page(tx, shopId, after, limit) {
    const position: ViewPosition | null = after === null ? null : JSON.parse(after);
    const { views, end } = await listForecastViews(tx, shopId, true, position, limit);
    return {
      lines: views.map((view) => JSON.stringify(forecastViewJson(view))),
      next: end === null ? null : JSON.stringify(end),
    };
  },
};
