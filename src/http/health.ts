/** Pages for whoever watches over the process: health, readiness and counts. No key, no shop data. */
import type { Metrics } from "./metrics.ts";
import { type RequestContext, requireGet, type Surface } from "./surface.ts";

/** Sources of these pages. */
export interface HealthSources {
  /** Rejects when the process cannot serve (`GET /readyz`). */
  readonly ready: () => Promise<void>;
  /**
   * Shops that have had more than their share of the event loop wait until it is known whether the process can serve
   * (Q5).
   */
  readonly loop: { readonly admit: (shopId: null) => () => void };
  /** Shown by `GET /healthz`: by it the command tells this server from others. */
  readonly identity: string;
}

export function createHealth({ ready, loop, identity }: HealthSources): readonly Surface[] {
  return [
    statusPage("healthz", () => Response.json({ status: "ok", identity })),
    statusPage("readyz", async () => {
      const left = loop.admit(null);
      try {
        await ready();
      } finally {
        left();
      }
      return Response.json({ status: "ready" });
    }),
  ];
}

/** @param measure brings what is measured at intervals up to date. */
export const createMetricsPage = (metrics: Metrics, measure: () => Promise<void> = () => Promise.resolve()): Surface =>
  statusPage("metrics", async () => {
    await measure();
    return new Response(metrics.text(), { headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" } });
  });

/** One path without anything below it, counted under its own name. */
function statusPage(name: string, answer: () => Response | Promise<Response>): Surface {
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
