/**
 * The changes that are made to a source, one at a time: conditions, operators, constants, calls and bodies. They are Stryker's operators, but for
 * texts that people read (arguments of errors), names of imports and regular expressions.
 *
 * The parser is the one that Node itself uses, so it needs `--expose-internals`. Types are taken out before, which leaves every place where it is.
 */
import { createRequire, stripTypeScriptTypes } from "node:module";
import type { Change } from "./play.ts";

export interface Mutant extends Change {
  readonly line: number;
  readonly before: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;

function parse(source: string): Node {
  const acorn: { parse(text: string, options: object): unknown } = createRequire(import.meta.url)(
    "internal/deps/acorn/acorn/dist/acorn",
  );
  const program = acorn.parse(stripTypeScriptTypes(source), { ecmaVersion: "latest", sourceType: "module" });
  if (!isNode(program)) throw new Error("the source has no program");
  return program;
}

const binaries: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
};
const logicals: Readonly<Record<string, string>> = { "&&": "||", "||": "&&", "??": "&&" };
const assignments: Readonly<Record<string, string>> = {
  "+=": "-=",
  "-=": "+=",
  "*=": "/=",
  "??=": "&&=",
  "||=": "&&=",
};
const calls: Readonly<Record<string, string>> = {
  some: "every",
  every: "some",
  min: "max",
  max: "min",
  floor: "ceil",
  ceil: "floor",
  startsWith: "endsWith",
  endsWith: "startsWith",
};
/** Calls that are left out: what they are called on stays. */
const dropped = new Set(["filter", "sort", "toSorted", "slice", "trim", "reverse", "toReversed", "normalize"]);

const members = (node: Node): readonly Node[] =>
  Object.values(node).flatMap((value): readonly Node[] =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );

const isText = (node: unknown): boolean =>
  isNode(node) && (node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node["value"] === "string"));

/** Every mutant of a source. */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const found: Mutant[] = [];
  const textOf = (node: Node): string => source.slice(node.start, node.end);
  const replace = (start: number, end: number, text: string): void => {
    const before = source.slice(start, end);
    if (before === text) return;
    found.push({ file, start, end, text, before, line: source.slice(0, start).split("\n").length });
  };
  const replaceNode = (node: unknown, text: string): void => {
    if (isNode(node)) replace(node.start, node.end, text);
  };
  /** Replaces what stands between two nodes, such as an operator. */
  const between = (left: unknown, right: unknown, from: string, to: string): void => {
    if (!isNode(left) || !isNode(right)) return;
    const at = source.slice(left.end, right.start).indexOf(from);
    if (at >= 0) replace(left.end + at, left.end + at + from.length, to);
  };
  const walk = (node: Node, parent: Node | null): void => {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
        return;
      case "NewExpression":
        // The texts of errors are for people.
        if (isNode(node["callee"]) && /^(?:Fault|Error|TypeError|RangeError)$/.test(textOf(node["callee"]))) return;
        break;
      case "BinaryExpression":
        if (node["operator"] === "+" && (isText(node["left"]) || isText(node["right"]))) break;
        for (const other of binaries[String(node["operator"])] ?? [])
          between(node["left"], node["right"], String(node["operator"]), other);
        break;
      case "LogicalExpression":
        between(node["left"], node["right"], String(node["operator"]), logicals[String(node["operator"])] ?? "");
        break;
      case "AssignmentExpression": {
        const other = assignments[String(node["operator"])];
        if (other !== undefined) between(node["left"], node["right"], String(node["operator"]), other);
        break;
      }
      case "ConditionalExpression":
      case "IfStatement":
        for (const text of ["true", "false"]) replaceNode(node["test"], text);
        break;
      case "ForStatement":
      case "WhileStatement":
        replaceNode(node["test"], "false");
        break;
      case "UnaryExpression":
        if (node["operator"] === "!" || node["operator"] === "-") replace(node.start, node.start + 1, "");
        break;
      case "UpdateExpression":
        replaceNode(
          node,
          textOf(node).replaceAll(/\+\+|--/g, (operator) => (operator === "++" ? "--" : "++")),
        );
        break;
      case "Literal":
        if (typeof node["value"] === "boolean") replaceNode(node, String(!node["value"]));
        else if (typeof node["value"] === "string" && !isKey(node, parent))
          replaceNode(node, node["value"] === "" ? '"mutated"' : '""');
        break;
      case "TemplateLiteral":
        if (parent?.type !== "TaggedTemplateExpression") replaceNode(node, "``");
        break;
      case "ArrayExpression":
        replaceNode(node, Array.isArray(node["elements"]) && node["elements"].length > 0 ? "[]" : '["mutated"]');
        break;
      case "ObjectExpression":
        if (Array.isArray(node["properties"]) && node["properties"].length > 0) replaceNode(node, "{}");
        break;
      case "ArrowFunctionExpression":
        if (isNode(node["body"]) && node["body"].type !== "BlockStatement") {
          replaceNode(node["body"], "undefined");
        }
        break;
      case "BlockStatement":
        if (Array.isArray(node["body"]) && node["body"].length > 0) replaceNode(node, "{}");
        break;
      case "CallExpression": {
        const { callee } = node;
        if (!isNode(callee) || callee.type !== "MemberExpression" || !isNode(callee["property"])) break;
        const name = textOf(callee["property"]);
        const other = calls[name];
        if (other !== undefined) replaceNode(callee["property"], other);
        else if (dropped.has(name) && isNode(callee["object"])) replaceNode(node, textOf(callee["object"]));
        break;
      }
      case "MemberExpression":
        if (node["optional"] === true && isNode(node["object"]) && isNode(node["property"]))
          between(node["object"], node["property"], "?.", node["computed"] === true ? "" : ".");
        break;
    }
    for (const member of members(node)) walk(member, node);
  };
  walk(parse(source), null);
  return found;
}

const isKey = (node: Node, parent: Node | null): boolean =>
  (parent?.type === "Property" && parent["key"] === node && parent["computed"] !== true) ||
  parent?.type === "ExpressionStatement";
