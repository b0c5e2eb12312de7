/**
 * Documents for Shopify, one by one, with the schema of each answer as far as it is read. A test holds the documents
 * against Shopify's own schema (test/storefront/shopify/schema.test.ts).
 */
import { z } from "zod";
import { onOneLine } from "../../base/text/plain-text.ts";

/** A GraphQL document and the shape of its `data`. */
export interface ShopifyDocument<Answer> {
  readonly name: string;
  readonly text: string;
  readonly answer: z.ZodType<Answer>;
  /** Points that it costs at the start, before Shopify has said what it costs: so many, and so many an item. */
  readonly cost: { readonly base: number; readonly perItem: number };
}

/** Schema of the node of a global id: null when there is no such thing, or one of another type. */
const node = <Shape extends z.ZodType>(shape: Shape) =>
  z.union([shape, z.null(), z.strictObject({ __typename: z.string() }).transform(() => null)]);

const document = <Answer>(shape: ShopifyDocument<Answer>): ShopifyDocument<Answer> => Object.freeze(shape);

const money = z.object({ amount: z.string(), currencyCode: z.string() });

const userError = z.object({ field: z.array(z.string()).nullable(), message: z.string().overwrite(onOneLine) });

const codedError = userError.extend({ code: z.string().nullable() });

export type UserError = z.output<typeof codedError>;

/** Who the store is, and what the token may do there. */
export const connectDocument = document({
  name: "Connect",
  text: `query Connect {
  shop { id currencyCode myshopifyDomain }
  currentAppInstallation { accessScopes { handle } }
}`,
  answer: z.object({
    shop: z.object({ currencyCode: z.string(), myshopifyDomain: z.string() }),
    currentAppInstallation: z.object({ accessScopes: z.array(z.object({ handle: z.string() })) }),
  }),
  cost: { base: 10, perItem: 0 },
});

/** The store's locations. Asked apart: without its scope the whole answer would be refused. */
export const locationsDocument = document({
  name: "Locations",
  text: "query Locations { locations(first: 250) { nodes { id isActive isFulfillmentService } } }",
  answer: z.object({
    locations: z.object({
      nodes: z.array(z.object({ isActive: z.boolean(), isFulfillmentService: z.boolean() })),
    }),
  }),
  cost: { base: 30, perItem: 0 },
});

export const currencyDocument = document({
  name: "ShopCurrency",
  text: "query ShopCurrency { shop { id currencyCode } }",
  answer: z.object({ shop: z.object({ currencyCode: z.string() }) }),
  cost: { base: 1, perItem: 0 },
});

export const variantsDocument = document({
  name: "Variants",
  text: `query Variants($ids: [ID!]!) {
  nodes(ids: $ids) {
    __typename
    ... on ProductVariant { id requiresComponents product { id status } inventoryItem { id tracked } }
  }
}`,
  answer: z.object({
    nodes: z.array(
      node(
        z.object({
          id: z.string(),
          requiresComponents: z.boolean(),
          product: z.object({ id: z.string(), status: z.string() }),
          inventoryItem: z.object({ id: z.string(), tracked: z.boolean() }),
        }),
      ),
    ),
  }),
  cost: { base: 1, perItem: 3 },
});

export const activateDocument = document({
  name: "ActivateProduct",
  text: `mutation ActivateProduct($id: ID!) {
  productUpdate(product: { id: $id, status: ACTIVE }) { product { id status } userErrors { field message } }
}`,
  answer: z.object({
    productUpdate: z.object({ product: z.object({ status: z.string() }).nullable(), userErrors: z.array(userError) }),
  }),
  cost: { base: 10, perItem: 0 },
});

/** The text of `$input` is stored and sent as it is: see `adjustInput`. */
export const adjustDocument = document({
  name: "Adjust",
  text: `mutation Adjust($input: InventoryAdjustQuantitiesInput!, $key: String!) {
  inventoryAdjustQuantities(input: $input) @idempotent(key: $key) {
    inventoryAdjustmentGroup { id createdAt changes { name delta quantityAfterChange item { id } location { id } } }
    userErrors { code field message }
  }
}`,
  answer: z.object({
    inventoryAdjustQuantities: z.object({
      inventoryAdjustmentGroup: z
        .object({
          createdAt: z.string(),
          changes: z.array(
            z.object({
              name: z.string(),
              delta: z.number(),
              quantityAfterChange: z.number().nullable(),
              item: z.object({ id: z.string() }).nullable(),
              location: z.object({ id: z.string() }).nullable(),
            }),
          ),
        })
        .nullable(),
      userErrors: z.array(codedError),
    }),
  }),
  cost: { base: 10, perItem: 3 },
});

export const levelsDocument = document({
  name: "Levels",
  text: `query Levels($ids: [ID!]!, $locationId: ID!) {
  nodes(ids: $ids) {
    __typename
    ... on InventoryItem {
      id
      inventoryLevel(locationId: $locationId, includeInactive: true) {
        id
        quantities(names: ["available", "on_hand"]) { name quantity updatedAt }
      }
    }
  }
}`,
  answer: z.object({
    nodes: z.array(
      node(
        z.object({
          id: z.string(),
          inventoryLevel: z
            .object({
              quantities: z.array(
                z.object({ name: z.string(), quantity: z.number(), updatedAt: z.string().nullable() }),
              ),
            })
            .nullable(),
        }),
      ),
    ),
  }),
  cost: { base: 1, perItem: 4 },
});

export const costsDocument = document({
  name: "Costs",
  text: `query Costs($ids: [ID!]!) {
  nodes(ids: $ids) {
    __typename
    ... on ProductVariant { id inventoryItem { id unitCost { amount currencyCode } } }
  }
}`,
  answer: z.object({
    nodes: z.array(
      node(z.object({ id: z.string(), inventoryItem: z.object({ id: z.string(), unitCost: money.nullable() }) })),
    ),
  }),
  cost: { base: 1, perItem: 3 },
});

export const writeCostsDocument = document({
  name: "WriteCosts",
  text: `mutation WriteCosts($productId: ID!, $variants: [ProductVariantsBulkInput!]!) {
  productVariantsBulkUpdate(productId: $productId, variants: $variants, allowPartialUpdates: true) {
    productVariants { id inventoryItem { id unitCost { amount currencyCode } } }
    userErrors { code field message }
  }
}`,
  answer: z.object({
    productVariantsBulkUpdate: z.object({
      productVariants: z
        .array(z.object({ id: z.string(), inventoryItem: z.object({ unitCost: money.nullable() }) }))
        .nullable(),
      userErrors: z.array(codedError),
    }),
  }),
  cost: { base: 10, perItem: 3 },
});

export const tagsDocument = document({
  name: "Tags",
  text: "query Tags($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on Product { id tags } } }",
  answer: z.object({ nodes: z.array(node(z.object({ id: z.string(), tags: z.array(z.string()) }))) }),
  cost: { base: 1, perItem: 1 },
});

const tagPayload = z.object({ node: z.object({ id: z.string() }).nullable(), userErrors: z.array(userError) });

export const addTagDocument = document({
  name: "AddTag",
  text: "mutation AddTag($id: ID!, $tags: [String!]!) { tagsAdd(id: $id, tags: $tags) { node { id } userErrors { field message } } }",
  answer: z.object({ tagsAdd: tagPayload }).transform(({ tagsAdd }) => tagsAdd),
  cost: { base: 10, perItem: 0 },
});

export const removeTagDocument = document({
  name: "RemoveTag",
  text: "mutation RemoveTag($id: ID!, $tags: [String!]!) { tagsRemove(id: $id, tags: $tags) { node { id } userErrors { field message } } }",
  answer: z.object({ tagsRemove: tagPayload }).transform(({ tagsRemove }) => tagsRemove),
  cost: { base: 10, perItem: 0 },
});

/** Webhooks that the app has asked for in the store, at one address. */
export const subscriptionsDocument = document({
  name: "Subscriptions",
  text: "query Subscriptions($uri: String!) { webhookSubscriptions(first: 100, uri: $uri) { nodes { id topic uri } } }",
  answer: z
    .object({
      webhookSubscriptions: z.object({
        nodes: z.array(z.object({ id: z.string(), topic: z.string(), uri: z.string() })),
      }),
    })
    .transform(({ webhookSubscriptions: { nodes } }) => nodes),
  cost: { base: 10, perItem: 0 },
});

export const subscribeDocument = document({
  name: "Subscribe",
  text: `mutation Subscribe($topic: WebhookSubscriptionTopic!, $webhook: WebhookSubscriptionInput!) {
  webhookSubscriptionCreate(topic: $topic, webhookSubscription: $webhook) {
    webhookSubscription { id }
    userErrors { field message }
  }
}`,
  answer: z.object({ webhookSubscriptionCreate: z.object({ userErrors: z.array(userError) }) }),
  cost: { base: 10, perItem: 0 },
});

export const unsubscribeDocument = document({
  name: "Unsubscribe",
  text: "mutation Unsubscribe($id: ID!) { webhookSubscriptionDelete(id: $id) { deletedWebhookSubscriptionId userErrors { field message } } }",
  answer: z.object({ webhookSubscriptionDelete: z.object({ userErrors: z.array(userError) }) }),
  cost: { base: 10, perItem: 0 },
});

// The pull. Everything but locations and deletions is asked for as bulk operations, whose queries are texts inside
// `RunBulk`.

const pageInfo = z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() });

export const pullLocationsDocument = document({
  name: "PullLocations",
  text: `query PullLocations($after: String) {
  locations(first: 50, after: $after) { nodes { id name isActive isFulfillmentService } pageInfo { hasNextPage endCursor } }
}`,
  answer: z.object({
    locations: z.object({
      nodes: z.array(
        z.object({ id: z.string(), name: z.string(), isActive: z.boolean(), isFulfillmentService: z.boolean() }),
      ),
      pageInfo,
    }),
  }),
  cost: { base: 30, perItem: 0 },
});

/** Products that were deleted. Of variants there is no such list: their product changes. */
export const pullDeletionsDocument = document({
  name: "PullDeletions",
  text: `query PullDeletions($after: String, $query: String!) {
  deletionEvents(first: 100, after: $after, subjectTypes: [PRODUCT], query: $query) {
    nodes { subjectId }
    pageInfo { hasNextPage endCursor }
  }
}`,
  answer: z.object({
    deletionEvents: z.object({ nodes: z.array(z.object({ subjectId: z.string() })), pageInfo }),
  }),
  cost: { base: 30, perItem: 0 },
});

export const runBulkDocument = document({
  name: "RunBulk",
  text: `mutation RunBulk($query: String!, $grouped: Boolean!) {
  bulkOperationRunQuery(query: $query, groupObjects: $grouped) {
    bulkOperation { id }
    userErrors { code field message }
  }
}`,
  answer: z.object({
    bulkOperationRunQuery: z.object({
      bulkOperation: z.object({ id: z.string() }).nullable(),
      userErrors: z.array(codedError),
    }),
  }),
  cost: { base: 10, perItem: 0 },
});

/** Counts of 64 bits are texts. */
const largeCount = z.union([z.string(), z.number()]).transform(Number).pipe(z.number().nonnegative());

export const bulkStateDocument = document({
  name: "BulkState",
  text: `query BulkState($id: ID!) {
  bulkOperation(id: $id) { id status errorCode objectCount fileSize url }
}`,
  answer: z.object({
    bulkOperation: z
      .object({
        status: z.string(),
        errorCode: z.string().nullable(),
        objectCount: largeCount,
        fileSize: largeCount.nullable(),
        url: z.string().nullable(),
      })
      .nullable(),
  }),
  cost: { base: 1, perItem: 0 },
});

/**
 * A query that Shopify runs by itself, writing a line for each thing. `since` in its filters is set when it is sent.
 */
export interface BulkQuery {
  readonly name: string;
  readonly text: string;
  /** Lines of what belongs to something follow its own. */
  readonly grouped: boolean;
}

/** Placeholder of a time in the text of a bulk query. */
export const bulkTime = "2000-01-01T00:00:00Z";

const variantMembers = `id title sku barcode price requiresComponents
          product { id title status featuredMedia { preview { image { url } } } }
          inventoryItem { id tracked unitCost { amount currencyCode } }`;

export const bulkVariants: BulkQuery = {
  name: "BulkVariants",
  text: `query BulkVariants {
  productVariants {
    edges {
      node {
          ${variantMembers}
      }
    }
  }
}`,
  grouped: false,
};

export const bulkChangedProducts: BulkQuery = {
  name: "BulkChangedProducts",
  text: `query BulkChangedProducts {
  products(query: "updated_at:>='${bulkTime}'") {
    edges {
      node {
        id
        variants {
          edges {
            node {
          ${variantMembers}
            }
          }
        }
      }
    }
  }
}`,
  grouped: true,
};

/**
 * Variants whose inventory item has changed: their unit cost, SKU and tracking are the item's, and no change of the
 * product.
 */
export const bulkChangedItems: BulkQuery = {
  name: "BulkChangedItems",
  text: `query BulkChangedItems {
  inventoryItems(query: "updated_at:>='${bulkTime}'") {
    edges {
      node {
        id
        variant {
          ${variantMembers}
        }
      }
    }
  }
}`,
  grouped: false,
};

/** Inactive levels are among them: what is not stocked at a location any more has a change, too. */
const levelsQuery = (name: string, filter: string): BulkQuery => ({
  name,
  text: `query ${name} {
  locations {
    edges {
      node {
        id
        inventoryLevels(includeInactive: true${filter}) {
          edges {
            node {
              id
              isActive
              location { id }
              item { id variant { id } }
              quantities(names: ["on_hand"]) { name quantity }
            }
          }
        }
      }
    }
  }
}`,
  grouped: false,
});

export const bulkLevels = levelsQuery("BulkLevels", "");

export const bulkChangedLevels = levelsQuery("BulkChangedLevels", `, query: "updated_at:>='${bulkTime}'"`);

const ordersQuery = (name: string, member: "processed_at" | "updated_at"): BulkQuery => ({
  name,
  text: `query ${name} {
  orders(query: "${member}:>='${bulkTime}'") {
    edges {
      node {
        id
        processedAt
        cancelledAt
        test
        retailLocation { id }
        fulfillments(first: 10) { id location { id } }
        lineItems { edges { node { id currentQuantity variant { id } } } }
      }
    }
  }
}`,
  grouped: true,
});

export const bulkOrders = ordersQuery("BulkOrders", "processed_at");

export const bulkChangedOrders = ordersQuery("BulkChangedOrders", "updated_at");
