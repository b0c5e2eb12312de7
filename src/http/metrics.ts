/**
 * Counts of what was served, as Prometheus text (`GET /metrics`). No shop data and no ids: labels are operations and
 * statuses.
 */

/** Upper bounds in seconds. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

interface Durations {
  readonly counts: number[];
  sum: number;
  count: number;
}

/** A value that another module keeps; the name is without the `openpo_` prefix. */
export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly value: () => number;
}

export interface Metrics {
  /** Counts one answer. `operation` is `unknown` when the request reached none. */
  observe(request: {
    readonly operation: string;
    readonly status: number;
    readonly errorCode: string | null;
    readonly durationMs: number;
  }): void;
  /** Shows further values. */
  add(gauges: readonly Gauge[]): void;
  text(): string;
}

export function createMetrics(initial: readonly Gauge[] = []): Metrics {
  const gauges = [...initial];
  const requests = new Map<string, number>();
  const errors = new Map<string, number>();
  const durations = new Map<string, Durations>();

  const count = (counts: Map<string, number>, labels: string): void => {
    counts.set(labels, (counts.get(labels) ?? 0) + 1);
  };

  return {
    observe({ operation, status, errorCode, durationMs }) {
      count(requests, `operation="${operation}",status="${status}"`);
      if (errorCode !== null) count(errors, `operation="${operation}",code="${errorCode}"`);
      const entry = durations.get(operation) ?? { counts: durationBuckets.map(() => 0), sum: 0, count: 0 };
      const seconds = durationMs / 1000;
      const bucket = durationBuckets.findIndex((bound) => seconds <= bound);
      if (bucket !== -1) entry.counts[bucket] = (entry.counts[bucket] ?? 0) + 1;
      entry.sum += seconds;
      entry.count += 1;
      durations.set(operation, entry);
    },
    add: (more) => void gauges.push(...more),
    text() {
      const lines: string[] = [];
      const family = (name: string, type: string, help: string): void => {
        lines.push(`# HELP openpo_${name} ${help}`, `# TYPE openpo_${name} ${type}`);
      };
      family("requests_total", "counter", "Requests answered, by operation and status.");
      for (const [labels, total] of requests) lines.push(`openpo_requests_total{${labels}} ${total}`);
      family("errors_total", "counter", "Requests refused or failed, by operation and error code.");
      for (const [labels, total] of errors) lines.push(`openpo_errors_total{${labels}} ${total}`);
      family("request_duration_seconds", "histogram", "Time from the request's head to its answer.");
      for (const [operation, entry] of durations) {
        let cumulative = 0;
        for (const [index, bound] of durationBuckets.entries()) {
          cumulative += entry.counts[index] ?? 0;
          lines.push(`openpo_request_duration_seconds_bucket{operation="${operation}",le="${bound}"} ${cumulative}`);
        }
        lines.push(
          `openpo_request_duration_seconds_bucket{operation="${operation}",le="+Inf"} ${entry.count}`,
          `openpo_request_duration_seconds_sum{operation="${operation}"} ${entry.sum}`,
          `openpo_request_duration_seconds_count{operation="${operation}"} ${entry.count}`,
        );
      }
      for (const gauge of gauges) {
        family(gauge.name, gauge.type, gauge.help);
        lines.push(`openpo_${gauge.name} ${gauge.value()}`);
      }
      return `${lines.join("\n")}\n`;
    },
  };
}
