/** What the generator reads and writes. Node and tsc need the extension in imports. */
export default {
  input: "openapi.json",
  output: { path: "generated", module: { extension: ".js" } },
};
