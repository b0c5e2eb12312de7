/**
 * What looks after the process: health, readiness and counts. No key, no shop data.
 */
import type { Metrics } from "./metrics.ts";
import { type RequestContext, requireGet, type Surface } from "./surface.ts";

/**
 * @param ready     rejects when the process cannot serve.
 * @param identity  by which the command tells this server from others.
 */
export function createHealth(ready: () => Promise<void>, identity: string): readonly Surface[] {
  return [
    page("healthz", () => Response.json({ status: "ok", identity })),
    page("readyz", async () => {
      await ready();
      return Response.json({ status: "ready" });
    }),
  ];
}

/** @param measure brings what is measured at intervals up to date. */
export const createMetricsPage = (metrics: Metrics, measure: () => Promise<void> = () => Promise.resolve()): Surface =>
  page("metrics", async () => {
    await measure();
    return new Response(metrics.text(), { headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" } });
  });

/** One path without anything below it, counted under its own name. */
function page(name: string, answer: () => Response | Promise<Response>): Surface {
  const path = `/${name}`;
  return {
    path,
    async handle(context: RequestContext) {
      if (context.path !== path) return null;
      context.operation = name;
      requireGet(context.request);
      return await answer();
    },
  };
}
