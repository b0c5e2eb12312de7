/**
 * The part of graphql-js that the tests of Shopify use, so that the tree compiles where test/node_modules was installed before graphql was
 * added. It can be deleted once that is history: the package has types of its own.
 */
declare module "graphql" {
  export interface GraphQLSchema {
    readonly extensions: object;
  }
  export interface SelectionNode {
    readonly kind: string;
    readonly name?: { readonly value: string };
    readonly directives?: readonly {
      readonly name: { readonly value: string };
      readonly arguments?: readonly { readonly name: { readonly value: string }; readonly value: ValueNode }[];
    }[];
    readonly selectionSet?: { readonly selections: readonly SelectionNode[] };
  }
  export interface ValueNode {
    readonly kind: string;
    readonly value?: unknown;
    readonly name?: { readonly value: string };
  }
  export interface DocumentNode {
    readonly definitions: readonly {
      readonly kind: string;
      readonly operation?: string;
      readonly name?: { readonly value: string };
      readonly selectionSet?: { readonly selections: readonly SelectionNode[] };
    }[];
  }
  export class GraphQLError extends Error {
    constructor(message: string, options?: { readonly extensions?: Readonly<Record<string, unknown>> });
    readonly extensions: Readonly<Record<string, unknown>>;
  }
  export interface ExecutionResult {
    readonly data?: Readonly<Record<string, unknown>> | null;
    readonly errors?: readonly GraphQLError[];
  }
  export function parse(source: string): DocumentNode;
  export function buildSchema(source: string): GraphQLSchema;
  export function buildClientSchema(introspection: unknown): GraphQLSchema;
  export function validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[];
  export function validateSchema(schema: GraphQLSchema): readonly GraphQLError[];
  export function execute(options: {
    readonly schema: GraphQLSchema;
    readonly document: DocumentNode;
    readonly rootValue: unknown;
    readonly variableValues?: Readonly<Record<string, unknown>>;
  }): ExecutionResult | Promise<ExecutionResult>;
  export function executeSync(options: {
    readonly schema: GraphQLSchema;
    readonly document: DocumentNode;
    readonly rootValue: unknown;
  }): ExecutionResult;
  export function findBreakingChanges(
    before: GraphQLSchema,
    after: GraphQLSchema,
  ): readonly { readonly type: string; readonly description: string }[];
}
