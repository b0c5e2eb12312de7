/** The HTTP side of the bare programs: node:http, and nothing that they could do without. */
import { createServer } from "node:http";

/** Listens on `PORT`. A body is read and parsed as JSON; the path is passed on in its parts, the first of them empty. */
export function serveAnswers(answer: (method: string, path: readonly string[]) => Promise<string>): void {
  createServer((request, response) => {
    const { method = "GET", url = "/" } = request;
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (chunks.length > 0) JSON.parse(Buffer.concat(chunks).toString("utf8"));
      answer(method, url.split("/")).then(
        (body) =>
          response
            .writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
            .end(body),
        (error: unknown) => response.writeHead(500, { "content-length": 0 }).end(() => console.error(error)),
      );
    });
  }).listen(Number(process.env["PORT"]), "127.0.0.1");
}
