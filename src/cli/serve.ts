/**
 * The command that serves until it is told to stop.
 */
import { openService, type Service } from "../serve.ts";
import { helpOption, type RunnableCommand } from "./commands.ts";

/** The address as a client on this machine reaches it. */
function urlOf({ host, port }: Pick<Service, "host" | "port">): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

function welcome(service: Service): string {
  const url = urlOf(service);
  const lines = [`OpenPO serves at ${url}`];
  if (service.demo === null && service.adminToken.isNew)
    lines.push("", `First start: the admin token is ${service.adminToken.token}, kept in ${service.place}.`, "");
  if (service.demo !== null)
    lines.push(
      "",
      `First start: the demo shop "${service.demo.shopId}" is ready in ${service.place}. These keys are shown once.`,
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
      "Try:",
      "",
      `  curl -H "Authorization: Bearer ${service.demo.readKey}" "${url}/api/v1/purchase-orders?limit=3"`,
      "",
    );
  return lines.join("\n");
}

export const serve: RunnableCommand = {
  name: "serve",
  parameters: [],
  summary: "serves the API, and makes a demo shop where there is no data yet",
  details:
    "Runs until it gets SIGTERM or SIGINT; what runs then is finished first. The environment is in openpo --help.",
  options: {
    port: { value: "PORT", help: "port to listen on (PORT, 8080; 0: any free one)" },
    host: { value: "ADDRESS", help: "address to listen on (OPENPO_HOST, 127.0.0.1)" },
    "data-dir": { value: "DIR", help: "where everything is kept (OPENPO_DATA_DIR, ./data)" },
    json: { value: null, help: "tell as one line of JSON that it serves, and what was made" },
    ...helpOption,
  },
  async run(_args, { config, output }) {
    const service = await openService(config);
    const { demo, adminToken } = service;
    const made = demo === null && !adminToken.isNew ? {} : { adminToken: adminToken.token, demo };
    let isStopping = false;
    const stopped = new Promise<NodeJS.Signals>((resolve) => {
      const stop = (received: NodeJS.Signals): void => {
        // Asked twice: whoever waits has no more patience, and what was acknowledged is safe.
        if (isStopping) process.exit(1);
        isStopping = true;
        resolve(received);
      };
      process.on("SIGTERM", stop);
      process.on("SIGINT", stop);
    });
    const where = config.database === null ? { dataDir: service.place } : { database: service.place };
    output.result({ url: urlOf(service), ...where, ...made }, welcome(service));
    output.say(`OpenPO stops (${await stopped}); what runs is finished first.`);
    await service.close();
  },
};
