/** Chromium for tests that look at pages. */
import { existsSync } from "node:fs";

/** Undefined on a machine without one. */
export const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((each) =>
  existsSync(each),
);
