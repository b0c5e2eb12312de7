/**
 * Sends OpenPO's spans to a collector by OTLP. Load it before the program: NODE_OPTIONS=--import=/opt/otel/otel.mjs (docs/operating.md).
 * Where to is said by OpenTelemetry's own variables, such as OTEL_EXPORTER_OTLP_ENDPOINT.
 */
import { NodeSDK } from "@opentelemetry/sdk-node";

const sdk = new NodeSDK({ serviceName: "openpo", instrumentations: [] });
sdk.start();
// The program has stopped: what was not sent yet is sent. A signal is the program's alone, which may not have begun to listen for it.
process.once("beforeExit", () => void sdk.shutdown());
