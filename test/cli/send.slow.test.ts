/** The commands that bring an order to its supplier and back, beside a running server with a mail server of the tests' own. */
// Only on sqlite: its subject is the command and what it prints; cli/nodes.slow.test.ts has the command beside nodes.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { attachedTo, mailEnv, type MailShop, mailShopOn, sha256Of } from "../support/peers/mail-shop.ts";
import { runCommand, serveProgram, withDirectory } from "../support/process.ts";
import type { Finished } from "../support/programs/program.ts";
import { parseMail, type SmtpServerForTests, startSmtpServer } from "../support/peers/smtp.ts";

/** Methods, paths of the admin API and JSON pointers. A command has options and commands instead. */
const wordsOfRest = /\b(?:GET|POST|PUT|PATCH|DELETE)\b|\/admin\/v1|(?:^|[\s;])(?:\/\w+)+: |details|Authorization/m;

interface Place {
  readonly directory: string;
  readonly server: SmtpServerForTests;
  readonly shop: MailShop;
  /** Runs a command on the shop's server. */
  readonly openpo: (args: readonly string[], stdin?: string) => Promise<Finished>;
  /** Runs it with --json and reads what it says. */
  readonly json: (args: readonly string[]) => Promise<Record<string, unknown>>;
  /** Runs it as somebody on the machine who names no address. */
  readonly beside: (args: readonly string[]) => Promise<Finished>;
}

const withPlace = (use: (place: Place) => Promise<void>): Promise<void> =>
  withDirectory(async (directory) => {
    const server = await startSmtpServer();
    const token = "an-admin-token-for-tests";
    const store = { OPENPO_DATA_DIR: path.join(directory, "data") };
    const program = await serveProgram({ ...store, OPENPO_ADMIN_TOKEN: token, OPENPO_DEMO: "0", ...mailEnv(server) });
    const beside: Place["beside"] = async (args) => {
      const port = new URL(program.url).port;
      const finished = await runCommand(args, { ...store, PORT: port, OPENPO_ADMIN_TOKEN: token });
      assert.doesNotMatch(finished.stderr, wordsOfRest);
      return finished;
    };
    const openpo: Place["openpo"] = async (args, stdin) => {
      const env = { ...store, OPENPO_ADMIN_TOKEN: token };
      const finished = await runCommand([...args, "--shop", "shop", "--url", program.url], env, stdin ?? null);
      assert.doesNotMatch(finished.stderr, wordsOfRest);
      return finished;
    };
    try {
      const shop = await mailShopOn(program, token);
      await use({
        directory,
        server,
        shop,
        openpo,
        beside,
        async json(args) {
          const { code, stdout, stderr } = await openpo([...args, "--json"]);
          assert.equal(code, 0, stderr);
          assert.equal(stdout.trim().split("\n").length, 1, "one line of JSON and nothing else");
          return JSON.parse(stdout) as Record<string, unknown>;
        },
      });
    } finally {
      await program.end("SIGTERM");
      await server.close();
    }
  });

const textOf = (server: SmtpServerForTests): string => {
  const mail = server.taken.at(-1);
  assert.ok(mail !== undefined);
  return (parseMail(mail).parts[0]?.bytes.toString() ?? "").replaceAll("\r\n", "\n");
};

test("an order is sent by a command: moved, mailed with a link, under a key once; the file that is written is what was attached", async () => {
  await withPlace(async ({ directory, server, shop, openpo, json }) => {
    const id = await shop.makeOrder();
    const file = path.join(directory, "po.pdf");
    assert.equal((await openpo(["order", "document", id, "--sent", "--output", file])).code, 0);
    const sending = ["order", "send", id, "--link", "--csv", "--cc", "boss@shop.example", "--key", "k1"];
    const sent = await openpo([...sending, "--message-file", "-"], "Hello Jo,\n{link}\n");
    assert.equal(sent.code, 0, sent.stderr);
    assert.match(sent.stdout, /^Sent: PO-1001\.pdf, PO-1001\.csv to orders@supplier\.example, boss@shop\.example\.$/m);
    assert.equal((await openpo([...sending, "--message-file", "-"], "Hello Jo,\n{link}\n")).code, 0);
    assert.equal(server.taken.length, 1);
    const [mail] = server.taken;
    const [pdf] = mail === undefined ? [] : [...attachedTo(mail).values()];
    assert.equal(sha256Of(pdf ?? Buffer.from("")), sha256Of(await readFile(file)));
    const [, url = ""] = /^Hello Jo,\n(http\S+)\n$/.exec(textOf(server)) ?? [];
    assert.equal((await fetch(url)).status, 200, textOf(server));
    const listed = await openpo(["order", "mails", id]);
    assert.match(listed.stdout, /^mail_\S+ +sent +\S+ +- +orders@supplier\.example, boss@shop\.example +-$/m);
    const kept = await shop.makeOrder();
    const answer = await json(["order", "send", kept, "--keep-draft", "--to", "a@b.example", "--to", "c@b.example"]);
    assert.deepEqual(server.taken.at(-1)?.to, ["a@b.example", "c@b.example"]);
    assert.equal(answer["transition"], undefined);
  });
});

test("a mail that is refused ends the command with 1 and says how it is sent again; one that waits is told", async () => {
  await withPlace(async ({ server, shop, openpo, json }) => {
    const id = await shop.makeOrder();
    server.answer = (step) => (step === "RCPT" ? "550 5.1.1 no such user" : null);
    const failed = await openpo(["order", "send", id]);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /failed: 550 5\.1\.1 no such user/);
    const [, mailId = ""] = /openpo order resend --shop shop \S+ (mail_\w+)/.exec(failed.stderr) ?? [];
    const still = await openpo(["order", "resend", id, mailId, "--json"]);
    assert.equal(still.code, 1);
    const told = JSON.parse(still.stdout) as { error: { data: { mail: { state: string } } } };
    assert.equal(told.error.data.mail.state, "failed");
    server.answer = () => null;
    assert.match((await openpo(["order", "resend", id, mailId])).stdout, /^Sent: /);
    server.answer = (step) => (step === "MAIL" ? "451 4.7.1 greylisted" : null);
    const queued = await openpo(["order", "send", id]);
    assert.equal(queued.code, 0);
    assert.match(queued.stdout, /^Queued: /);
    assert.match(queued.stderr, /has not taken it yet/);
    const { mails } = (await json(["order", "mails", id])) as { mails: readonly { state: string }[] };
    assert.deepEqual(
      mails.map(({ state }) => state),
      ["queued", "sent"],
    );
  });
});

test("links are made, listed and revoked; what the supplier answers is shown, accepted line by line, and rejected", async () => {
  await withPlace(async ({ shop, openpo, json, beside }) => {
    const id = await shop.makeOrder();
    const more = await shop.program.ask("POST", `/api/v1/purchase-orders/${id}/line-items/custom`, shop.apiKey, {
      productName: "Cup",
      quantityOrdered: 5,
      unitCost: 1,
    });
    assert.equal(more.status, 201);
    assert.equal((await openpo(["order", "send", id])).code, 0);
    const unnamed = await beside(["order", "link", id, "--shop", "shop"]);
    assert.equal(unnamed.code, 2);
    assert.match(unnamed.stderr, /needs --url: the link begins with the address/);
    const made = await openpo(["order", "link", id]);
    const url = made.stdout.trim();
    const answer = async (body: object): Promise<void> => {
      const sent = await fetch(`${url}/proposal`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      assert.equal(sent.status, 201);
    };
    const order = await shop.program.ask("GET", `/api/v1/purchase-orders/${id}`, shop.apiKey);
    const lines = order.at("data", "purchaseOrder", "lineItems") as readonly { poLineItemId: string }[];
    const [mug = "", cup = ""] = lines.map(({ poLineItemId }) => poLineItemId);
    assert.match((await openpo(["order", "proposals", id])).stdout, /^The supplier has not answered\.$/m);
    await answer({
      lines: [
        { lineItemId: mug, quantityConfirmed: 2, expectedDeliveryDate: "2099-01-15" },
        { lineItemId: cup, cannotDeliver: true },
      ],
      reference: "SO-7",
    });
    const shown = await openpo(["order", "proposals", id]);
    const [, proposalId = ""] = /^(spr_\w+) +open /m.exec(shown.stdout) ?? [];
    assert.match(
      shown.stdout,
      new RegExp(`^ {2}reference: SO-7\\n {2}${mug}: 2, 2099-01-15\\n {2}${cup}: cannot be delivered$`, "m"),
    );
    const some = await openpo(["order", "accept", id, proposalId, "--line", mug]);
    assert.match(some.stdout, /is open; the order is Partially Confirmed\.$/m, some.stderr);
    const unknown = await openpo(["order", "accept", id, proposalId, "--line", "pol_none"]);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /--line \[0\]: pol_none is not a line of the proposal/);
    const all = await json(["order", "accept", id, proposalId]);
    assert.equal((all["proposal"] as { status: string }).status, "accepted");
    await answer({ lines: [{ lineItemId: mug, quantityConfirmed: 1 }] });
    const { proposals } = (await json(["order", "proposals", id])) as { proposals: readonly { proposalId: string }[] };
    const rejected = await openpo(["order", "reject", id, proposals[0]?.proposalId ?? ""]);
    assert.match(rejected.stdout, /is rejected\.$/m);
    const none = await openpo(["order", "reject", id, "spr_none"]);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /has no proposal spr_none\.\n.*openpo order proposals lists/);
    const listed = await openpo(["order", "links", id]);
    const [, linkId = ""] = /^(slk_\w+) +open /m.exec(listed.stdout) ?? [];
    assert.ok(!listed.stdout.includes(url));
    assert.equal((await openpo(["order", "revoke", id, linkId])).code, 0);
    assert.equal((await fetch(url)).status, 404);
    assert.match((await openpo(["order", "links", id])).stdout, new RegExp(`^${linkId} +revoked `, "m"));
  });
});

test("what cannot be done is said in the words of the command: no server, wrong addresses, both messages", async () => {
  await withPlace(async ({ server, shop, openpo, beside }) => {
    const id = await shop.makeOrder();
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["order", "send", id, "--to", "nobody"], 1, /--to \[0\]: must be an e-mail address/],
      [["order", "send", id, "--message", "a", "--message-file", "-"], 2, /cannot both be given/],
      [["order", "send", id, "--message-file", "/nowhere/x"], 1, /\/nowhere\/x cannot be read: ENOENT/],
      [["order", "send", "po_none"], 1, /no purchase order po_none/],
      [["order", "resend", id, "mail_none"], 1, /openpo order mails lists/],
      [["order", "revoke", id, "slk_none"], 1, /openpo order links lists/],
    ];
    for (const [args, code, message] of cases) {
      const refused = await openpo(args);
      assert.equal(refused.code, code, `${args.join(" ")}: ${refused.stderr}`);
      assert.match(refused.stderr, message);
    }
    const linked = await beside(["order", "send", id, "--shop", "shop", "--link"]);
    assert.equal(linked.code, 2);
    assert.match(linked.stderr, /--link needs --url/);
    assert.equal(server.connections, 0);
  });
});
