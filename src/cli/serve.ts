/**
 * The command that serves until it gets a signal to stop.
 */
import { localUrl } from "../service/config.ts";
import { boundHeapGrowth, giveMemoryBack } from "../service/heap.ts";
import type { Service } from "../service/serve.ts";
import { openedAt } from "./shops/console.ts";
import { environmentHelp, helpOption, type RunnableCommand } from "./command.ts";

function welcome(service: Service): string {
  const url = localUrl(service);
  const reached = service.publicUrl === null ? [] : [`Others reach it at ${service.publicUrl}`];
  const lines = [`OpenPO serves at ${url}`, ...reached, `The API reference is at ${url}/docs`];
  if (service.demo === null && service.adminToken.isNew)
    lines.push(
      "",
      `First start: the admin token is kept in ${service.place}.`,
      "",
      `  admin token  ${service.adminToken.token}`,
      "",
    );
  if (service.demo !== null)
    lines.push(
      "",
      `First start: the demo shop "${service.demo.shopId}" is ready in ${service.place}. Link and keys are shown only now.`,
      "",
      `  console      ${openedAt(service.demo.invitation, service)}`,
      "               (sign in as the shop's owner; works once, within 24 hours)",
      "",
      `  read key     ${service.demo.readKey}`,
      `  write key    ${service.demo.writeKey}`,
      `  admin token  ${service.adminToken.token}`,
      "",
      `  API          ${url}/api/v1`,
      `  OpenAPI      ${url}/api/v1/openapi.json`,
      `  agents       ${url}/mcp`,
      `  admin        ${url}/admin/v1`,
      `  health       ${url}/healthz`,
      "",
      "Open the API reference in a browser, enter the write key and send an example. Or try:",
      "",
      `  curl -H "Authorization: Bearer ${service.demo.readKey}" "${url}/api/v1/purchase-orders?limit=3"`,
      "",
    );
  return lines.join("\n");
}

export const serve: RunnableCommand = {
  name: "serve",
  parameters: [],
  summary: "serve the API; the first start creates a demo shop",
  details: `Runs until SIGTERM or SIGINT, and then finishes running requests first.\n\n${environmentHelp()}`,
  options: {
    port: { value: "PORT", help: "port to listen on (PORT, 8080; 0: any free port)" },
    host: { value: "ADDRESS", help: "address to listen on (OPENPO_HOST, 127.0.0.1)" },
    "data-dir": { value: "DIR", help: "directory in which all data is stored (OPENPO_DATA_DIR, ./data)" },
    json: { value: null, help: "print address, and keys and tokens of a first start, as one line of JSON" },
    ...helpOption,
  },
  async run(_args, { config, output }) {
    const { openService } = await import("../service/serve.ts");
    const service = await openService(config);
    // Not earlier: what a start makes is kept.
    boundHeapGrowth();
    // Without it the service only takes more memory.
    giveMemoryBack().catch((error: unknown) =>
      output.message(`The memory of the start was not given back: ${String(error)}`),
    );
    const { demo, adminToken } = service;
    const shownDemo = demo === null ? null : { ...demo, invitation: openedAt(demo.invitation, service) };
    const made = demo === null && !adminToken.isNew ? {} : { adminToken: adminToken.token, demo: shownDemo };
    let isStopping = false;
    const stopped = new Promise<NodeJS.Signals>((resolve) => {
      const stop = (received: NodeJS.Signals): void => {
        // A second signal stops at once: what was acknowledged is durable.
        if (isStopping) process.exit(1);
        isStopping = true;
        resolve(received);
      };
      process.on("SIGTERM", stop);
      process.on("SIGINT", stop);
    });
    const reached = service.publicUrl === null ? {} : { publicUrl: service.publicUrl };
    const where = config.database === null ? { dataDir: service.place } : { database: service.place };
    output.result({ url: localUrl(service), ...reached, ...where, ...made }, welcome(service));
    output.message(`OpenPO stops (${await stopped}) when running requests are finished.`);
    await service.close();
  },
};
