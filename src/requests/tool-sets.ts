/** Sets of tools, by the work that they are for. A client takes some of them with `/mcp?tools=` (C76). */
export const toolSets = ["purchasing", "reorder", "receiving", "stock"] as const;

export type ToolSet = (typeof toolSets)[number];
