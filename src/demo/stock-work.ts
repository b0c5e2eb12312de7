/**
 * The demo shop's stock takes, adjustments, transfers and manufacturing orders. Pure, like the rest of it (demo.ts).
 */

/** What this part of the demo knows of an article. */

export interface DemoArticle {
  readonly variantId: string;
  readonly sku: string;
  /** In the shop's currency. */
  readonly unitCost: number;
}

const dayMs = 86_400_000;

const warehouse = "loc_warehouse";

const store = "loc_store";

const owner = { type: "user", id: "usr_owner", name: "Noor (owner)" } as const;

const clerk = { type: "user", id: "usr_clerk", name: "Jip (shop floor)" } as const;

const reasons = [
  { reasonId: "rsn_count", name: "Cycle count", code: "COUNT", direction: "both", isSystem: true },
  { reasonId: "rsn_damaged", name: "Damaged", code: "DMG", direction: "decrease" },
  { reasonId: "rsn_tasting", name: "Used for tasting", code: "TASTE", direction: "decrease" },
  { reasonId: "rsn_found", name: "Found", code: "FOUND", direction: "increase" },
  { reasonId: "rsn_old_lot", name: "Old lot", direction: "decrease", isActive: false },
] as const;

/** Name, status, place, days ago, and per article what was expected and counted. */
const takes = [
  [
    "Year count",
    "Completed",
    warehouse,
    "full",
    88,
    [
      [42, 42],
      [18, 17],
      [36, 36],
      [12, 14],
      [9, 9],
    ],
  ],
  [
    "Shop shelves",
    "Completed",
    store,
    "cycle",
    40,
    [
      [11, 10],
      [7, 7],
      [5, 5],
    ],
  ],
  [
    "Tea corner",
    "Counted",
    store,
    "partial",
    3,
    [
      [14, 13],
      [9, 9],
      [6, 8],
    ],
  ],
  [
    "Ceramics",
    "In Progress",
    warehouse,
    "partial",
    1,
    [
      [22, 22],
      [18, null],
      [7, null],
    ],
  ],
  [
    "Next year count",
    "Draft",
    warehouse,
    "full",
    0,
    [
      [30, null],
      [12, null],
    ],
  ],
] as const;

/** Reason, status, place, who, days ago, deltas; the last two are a revert pair, of which only one side says so. */
const adjustments = [
  ["rsn_count", "Completed", warehouse, owner, 87, [-1, 2], "From the year count."],
  ["rsn_count", "Completed", store, clerk, 40, [-1], "From the count of the shop shelves."],
  ["rsn_damaged", "Completed", store, clerk, 21, [-2], "The tray fell."],
  ["rsn_tasting", "Completed", store, clerk, 14, [-0.25, -0.5], "Saturday tasting."],
  ["rsn_found", "Draft", warehouse, clerk, 1, [3], "Behind the pallet rack; to be checked."],
  ["rsn_damaged", "Reverted", warehouse, clerk, 9, [-6], "Wet boxes."],
  ["rsn_damaged", "Completed", warehouse, owner, 8, [6], "Only the boxes were wet."],
] as const;

/** Name, status, days ago, and per article what was requested, shipped and received. */
const transfers = [
  [
    "Weekend stock",
    "Received",
    18,
    [
      [12, 12, 12],
      [6, 6, 6],
      [24, 24, 24],
    ],
  ],
  [
    "Mugs for the window",
    "Partially Received",
    5,
    [
      [12, 12, 8],
      [6, 6, 6],
    ],
  ],
  [
    "Gift corner",
    "In Transit",
    2,
    [
      [10, 10, 0],
      [4, 4, 0],
    ],
  ],
  [
    "Next Saturday",
    "Ready to Ship",
    1,
    [
      [18, 0, 0],
      [12, 0, 0],
    ],
  ],
  ["Spring window", "Draft", 0, [[6, 0, 0]]],
  ["Kettles back", "Cancelled", 33, [[2, 0, 0]]],
] as const;

/** Name, status, mode, days ago, due in days, planned, completed, scrapped; two materials each. */
const builds = [
  ["Gift box Breakfast", "Completed", "in-house", 50, -40, 40, 40, 0],
  ["Gift box Espresso", "Partially Completed", "in-house", 12, 2, 36, 20, 1],
  ["Pour-over starter set", "In Progress", "in-house", 6, -1, 24, 4, 0],
  ["Engraved mugs", "Planned", "outsourced", 4, 20, 48, 0, 0],
  ["Tasting set", "Draft", "in-house", 1, 30, 12, 0, 0],
  ["Tin labels", "On Hold", "outsourced", 30, 5, 200, 0, 0],
] as const;

/** Records of these resources as of this instant, in an order that imports. `articles` are at least a dozen. */
export function* demoStockWork(articles: readonly DemoArticle[], nowMs: number): Generator<object> {
  const key = (index: number): string => String(index + 1).padStart(2, "0");
  // Half past nine (UTC) of the day before that many days ago: always in the past.
  const at = (daysAgo: number, minutes = 0): string =>
    new Date(Math.floor(nowMs / dayMs) * dayMs - daysAgo * dayMs - (24 * 60 - 570 - minutes) * 60_000).toISOString();
  const day = (daysAgo: number): string => at(daysAgo - 1).slice(0, "YYYY-MM-DD".length);
  const articlesFrom = (start: number, length: number): readonly DemoArticle[] =>
    Array.from({ length }, (_, index) => articles[(start * 5 + index * 3) % articles.length]).flatMap(
      (article) => article ?? [],
    );
  const entry = (
    logId: string,
    occurredAt: string,
    action: string,
    message: string,
    actor: typeof owner | typeof clerk,
  ) => ({
    logId,
    occurredAt,
    action,
    message,
    actor,
  });

  for (const reason of reasons) yield { type: "stockTakeReason", ...reason };

  for (const [index, [name, status, locationId, countType, daysAgo, counts]] of takes.entries())
    yield {
      type: "stockTake",
      stockTakeId: `st_demo_${key(index)}`,
      stockTakeNumber: `ST-${1_001 + index}`,
      stockTakeName: name,
      status,
      locationId,
      countType,
      reasonId: "rsn_count",
      stockAdjustmentId: status === "Completed" ? `sa_demo_${key(index)}` : null,
      createdBy: owner.name,
      createdAt: at(daysAgo),
      startedAt: status === "Draft" ? null : at(daysAgo, 30),
      completedAt: status === "Completed" ? at(daysAgo, 240) : null,
      lineItems: articlesFrom(index, counts.length).map(({ variantId, unitCost }, line) => ({
        stockTakeLineItemId: `stl_demo_${key(index)}_${line + 1}`,
        variantId,
        quantityExpected: counts[line]?.[0] ?? 0,
        quantityCounted: counts[line]?.[1] ?? null,
        unitCost,
        countedBy: counts[line]?.[1] === null ? null : clerk.name,
        countedAt: counts[line]?.[1] === null ? null : at(daysAgo, 60 + line * 5),
      })),
    };

  for (const [index, [reasonId, status, locationId, actor, daysAgo, deltas, note]] of adjustments.entries())
    yield {
      type: "stockAdjustment",
      stockAdjustmentId: `sa_demo_${key(index)}`,
      stockAdjustmentNumber: `SA-${1_001 + index}`,
      status,
      locationId,
      reasonId,
      createdBy: actor.name,
      createdAt: at(daysAgo, 245),
      appliedAt: status === "Draft" ? null : at(daysAgo, 250),
      revertOf: index === adjustments.length - 1 ? `sa_demo_${key(index - 1)}` : null,
      note,
      // A revert is about the same articles as what it takes back.
      lineItems: articlesFrom(index === adjustments.length - 1 ? index - 1 : index, deltas.length).map(
        ({ variantId, unitCost }, line) => ({
          stockAdjustmentLineItemId: `sal_demo_${key(index)}_${line + 1}`,
          variantId,
          quantityDelta: deltas[line] ?? 0,
          unitCost,
        }),
      ),
    };

  for (const [index, [name, status, daysAgo, quantities]] of transfers.entries()) {
    const hasShipped = quantities.some(([, shipped]) => shipped > 0);
    const hasArrived = quantities.some(([, , received]) => received > 0);
    const lines = articlesFrom(index + 2, quantities.length).map(({ variantId, unitCost }, line) => ({
      transferLineItemId: `tol_demo_${key(index)}_${line + 1}`,
      variantId,
      quantityRequested: quantities[line]?.[0] ?? 1,
      quantityShipped: quantities[line]?.[1] ?? 0,
      quantityReceived: quantities[line]?.[2] ?? 0,
      quantityCancelled: status === "Cancelled" ? (quantities[line]?.[0] ?? 0) : 0,
      unitCost,
    }));
    yield {
      type: "transferOrder",
      transferOrderId: `to_demo_${key(index)}`,
      transferNumber: `TO-${1_001 + index}`,
      transferName: name,
      status,
      fromLocationId: status === "Cancelled" ? store : warehouse,
      toLocationId: status === "Cancelled" ? warehouse : store,
      expectedArrivalDate: day(daysAgo - 2),
      shippedAt: hasShipped ? at(daysAgo, 120) : null,
      receivedAt: status === "Received" ? at(daysAgo, 300) : null,
      createdBy: owner.name,
      createdAt: at(daysAgo),
      updatedAt: at(daysAgo, hasArrived ? 300 : hasShipped ? 120 : 0),
      lineItems: lines,
      shipments: hasShipped
        ? [
            {
              shipmentId: `shp_demo_to_${key(index)}`,
              shipmentNumber: `TS-${key(index)}`,
              status: status === "Received" ? "Received" : hasArrived ? "Partially Received" : "In Transit",
              carrier: "Own van",
              shippingMethod: "Road",
              shippedDate: at(daysAgo, 120).slice(0, 10),
              expectedArrivalDate: day(daysAgo - 2),
              receivedDate: status === "Received" ? at(daysAgo, 300).slice(0, 10) : null,
              lineAllocations: lines.map((line) => ({
                poLineItemId: line.transferLineItemId,
                variantId: line.variantId,
                quantityAllocated: line.quantityShipped,
                quantityReceived: line.quantityReceived,
              })),
            },
          ]
        : [],
      documents: hasShipped
        ? [
            {
              documentId: `doc_demo_to_${key(index)}`,
              fileName: `packing-list-${key(index)}.pdf`,
              contentType: "application/pdf",
              fileSizeBytes: 21_000 + index * 311,
              documentType: "packing-list",
              uploadedAt: at(daysAgo, 118),
              uploadedBy: owner.name,
            },
          ]
        : [],
      log: [
        entry(`log_demo_to_${key(index)}_1`, at(daysAgo), "create", "Created.", owner),
        ...(hasShipped
          ? [entry(`log_demo_to_${key(index)}_2`, at(daysAgo, 120), "ship", "Left with the van.", owner)]
          : []),
        ...(hasArrived
          ? [entry(`log_demo_to_${key(index)}_3`, at(daysAgo, 300), "receive", "Counted in at the shop.", clerk)]
          : []),
        ...(status === "Cancelled"
          ? [entry(`log_demo_to_${key(index)}_2`, at(daysAgo, 60), "cancel", "Cancelled: sold in the shop.", owner)]
          : []),
      ],
    };
  }

  for (const [index, [name, status, executionMode, daysAgo, dueIn, planned, completed, scrapped]] of builds.entries()) {
    const [first, second, built] = articlesFrom(index + 4, 3);
    if (first === undefined || second === undefined || built === undefined) continue;
    const isOutsourced = executionMode === "outsourced";
    const moItemId = `moi_demo_${key(index)}`;
    const used = completed + scrapped;
    const needed = isOutsourced ? [first] : [first, second];
    yield {
      type: "manufacturingOrder",
      manufacturingOrderId: `mo_demo_${key(index)}`,
      moNumber: `MO-${1_001 + index}`,
      moName: name,
      status,
      executionMode,
      productionLocationId: isOutsourced ? null : warehouse,
      supplierId: isOutsourced ? "sup_clay" : null,
      plannedStartDate: day(daysAgo - 1),
      dueDate: day(-dueIn),
      startedAt: used > 0 ? at(daysAgo - 1) : null,
      completedAt: status === "Completed" ? at(daysAgo - 5) : null,
      createdAt: at(daysAgo),
      createdBy: owner.name,
      itemsToBuild: [
        {
          moItemId,
          variantId: built.variantId,
          quantityPlanned: planned,
          quantityCompleted: completed,
          quantityScrapped: scrapped,
          unitCost: built.unitCost,
        },
      ],
      materials: needed.map(({ variantId, unitCost }, material) => ({
        moMaterialId: `mom_demo_${key(index)}_${material + 1}`,
        moItemId,
        variantId,
        quantityPerUnit: material + 1,
        quantityRequired: planned * (material + 1),
        quantityAllocated: status === "Draft" ? 0 : Math.floor((planned - used) * (material + 1) * 0.75),
        quantityConsumed: used * (material + 1),
        unitCost,
      })),
      linkedPurchaseOrders: index === 1 ? ["po_demo_06"] : [],
      linkedTransferOrders: index === 0 ? ["to_demo_01"] : [],
      stockReleases:
        used === 0
          ? []
          : [
              ...needed.map(({ variantId }, material) => ({
                stockReleaseId: `mor_demo_${key(index)}_${material + 1}`,
                variantId,
                locationId: warehouse,
                quantity: used * (material + 1),
                direction: "consume",
                releasedAt: at(daysAgo - 1, 30),
                releasedBy: clerk.name,
              })),
              {
                stockReleaseId: `mor_demo_${key(index)}_made`,
                variantId: built.variantId,
                locationId: warehouse,
                quantity: completed,
                direction: "produce",
                releasedAt: at(daysAgo - 1, 240),
                releasedBy: clerk.name,
              },
            ],
      log: [
        entry(`log_demo_mo_${key(index)}_1`, at(daysAgo), "create", "Planned.", owner),
        ...(used > 0
          ? [entry(`log_demo_mo_${key(index)}_2`, at(daysAgo - 1, 240), "build", `Built ${completed}.`, clerk)]
          : []),
      ],
    };
  }
}
