import { memoryCoordination } from "../../src/shop/coordination.ts";
import { coordinationSuite } from "./coordination-suite.ts";

coordinationSuite("memory", () => Promise.resolve(memoryCoordination()));
