/** Figures of a forecast view, explained for agents. docs/forecasting.md says the same at length. */
export const forecastGuideText = `# Figures of a forecast view

Rows are computed when they are read, summed over the view's locations. The constants: 14 days of lead time when none is known, 30 days of demand in an order, safety factor 1.645.

| Column | How it is made |
|---|---|
| productName, variantName, sku | of the catalogue |
| supplierId, supplierName, leadTimeDays, moq, packSize, unitCost | terms of one supplier: the cheapest in the shop's currency. Without a supplier's cost, unitCost is the catalogue's |
| locationName | the view's locations; null for all |
| isActive | whether the storefront sells it |
| onHand, incoming | stock, and what open orders still bring. Drafts are not incoming |
| draftQuantity | ordered on Draft orders. The suggestion does not count it |
| nextIncomingDate | earliest date on which open orders bring something; in the past when overdue |
| expectedArrivalDate | when an order made today arrives: today + lead time |
| sold30d, sold90d, lastSoldDate | sales up to today |
| dailyDemand | expected sales a day, learned from weekly sales, recent weeks counting more |
| daysOfCover, stockoutDate | onHand / dailyDemand, and today plus so many whole days, as if nothing arrived |
| safetyStock | 1.645 × √(variance of weekly demand × lead time in weeks) |
| reorderPoint | dailyDemand × leadTimeDays + safetyStock |
| needsReorder | active, and onHand + incoming within leadTimeDays + 30 is below 0, or it sells and is at or below reorderPoint |
| suggestedOrderQuantity | 0 unless needsReorder; else what is missing to reorderPoint + 30 days of demand, at least moq, in whole packs |
| reorderReason | what decided: demand, minimum, owed, maximum, excluded, archived; null when nothing is low. A buyer's minimum, maximum and cover days come before the computed figures |
| stockoutCost | dailyDemand × (price − cost); without a cost × price, without a price × cost |
| suggestedOrderValue, stockValue | in the shop's currency; null without a cost or a rate |
| demand:P, incoming:P, projectedOnHand:P | of a coming week or month P: demand, goods that open orders bring, and the stock left at its end |

Days without stock are no days without demand. Not covered: seasons, promotions.
`;
