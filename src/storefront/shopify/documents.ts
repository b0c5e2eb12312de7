/**
 * What is asked of Shopify, document by document, with the schema of each answer as far as it is read. A test holds the documents against
 * Shopify's own schema (test/shopify/schema.test.ts).
 */
import { z } from "zod";

/** A GraphQL document and the shape of its `data`. */
export interface ShopifyDocument<Answer> {
  readonly name: string;
  readonly text: string;
  readonly answer: z.ZodType<Answer>;
  /** Points that it costs at the start, before Shopify has said what it costs: so many, and so many an item. */
  readonly cost: { readonly base: number; readonly perItem: number };
}

/** What a global id leads to: null when there is no such thing, or one of another type. */
const node = <Shape extends z.ZodType>(shape: Shape) =>
  z.union([shape, z.null(), z.strictObject({ __typename: z.string() }).transform(() => null)]);

const document = <Answer>(shape: ShopifyDocument<Answer>): ShopifyDocument<Answer> => Object.freeze(shape);

const money = z.object({ amount: z.string(), currencyCode: z.string() });

const userError = z.object({ field: z.array(z.string()).nullable(), message: z.string() });

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
