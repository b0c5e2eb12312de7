/**
 * Sends OpenPO's spans to a collector by OTLP. Load it before the program: NODE_OPTIONS=--import=/opt/otel/otel.mjs (docs/operating.md).
 * Where to is said by OpenTelemetry's own variables, such as OTEL_EXPORTER_OTLP_ENDPOINT.
 */
import { NodeSDK } from "@opentelemetry/sdk-node";

const sdk = new NodeSDK({ serviceName: "openpo", instrumentations: [] });
sdk.start();
// What was not sent yet is sent while the program stops.
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => void sdk.shutdown());
