/**
 * Statements that PostgreSQL runs one after another and answers together: they are sent as one piece of bytes with one
 * sync at their end.
 *
 * The library sends a sync with every statement, and the server answers each sync with a packet of its own: a keyed
 * create has 40 (D67).
 *
 * Owns: the messages of prepared statements, what a session has prepared, rows. Does not own: the connection and the
 * order in which what was sent is answered (the library), what belongs together (connection.ts).
 *
 * - When a statement fails, the server leaves out those that follow it. A transaction that one of them would have ended
 *   stays open.
 * - A name is known to be prepared when a statement under it was answered. As long as that is open, or after its first
 *   one has failed, the text is sent without the name.
 */
import { type Connection, type FieldDef, Query as LibraryQuery } from "pg";
import type { SqlValue } from "../store.ts";

/** A statement as it is sent. */
interface SentStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
  readonly name?: string;
}

export type Answer =
  | { readonly ok: true; readonly rows: readonly unknown[]; readonly command: string }
  | { readonly ok: false; readonly error: unknown };

/** Returns the parser of a value's text by its type. */
type ParserOf = (typeId: number) => (text: string) => unknown;

interface Field {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** Form of the rows of one statement. */
interface Shape {
  readonly fields: readonly Field[];
  /** A row of nothing, which each row begins as. */
  readonly blank: Readonly<Record<string, null>>;
}

/**
 * JSON.parse makes an object with a place for each member. One that gets its members one by one under changing names
 * becomes a hash table. That takes several times the memory, from a dozen members on.
 */
function shapeOf(fields: readonly Field[]): Shape {
  const members = Object.fromEntries(fields.map(({ name }) => [name, null]));
  return { fields, blank: JSON.parse(JSON.stringify(members)) };
}

const noShape = shapeOf([]);

/** A statement that was sent to be prepared under a name. */
interface Prepared {
  /** Segment that has prepared it. */
  readonly by: Segment;
  /** Of its rows; null: it was not answered yet. */
  shape: Shape | null;
}

/** Statements that a session has prepared, by name. */
export type Session = Map<string, Prepared>;

/** Bytes that the writer keeps for the next piece. */
const sizeKept = 1_048_576;
const sizeAtFirst = 65_536;

/** Longest UTF-8 form of a UTF-16 unit. */
const bytesOfUnit = 3;

/** Writes messages of the protocol one after another. */
class MessageWriter {
  #buffer = Buffer.allocUnsafe(sizeAtFirst);
  #length = 0;
  #begunAt = 0;

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe((this.#length + bytes) * 2);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  begin(type: string): this {
    this.#reserve(5);
    this.#buffer[this.#length] = type.charCodeAt(0);
    this.#begunAt = this.#length + 1;
    this.#length += 5;
    return this;
  }

  /** @throws RangeError beyond 65,535. */
  count(value: number): this {
    this.#reserve(2);
    this.#length = this.#buffer.writeUInt16BE(value, this.#length);
    return this;
  }

  int32(value: number): this {
    this.#reserve(4);
    this.#length = this.#buffer.writeInt32BE(value, this.#length);
    return this;
  }

  /** A text that a zero byte ends. */
  text(value: string): this {
    this.#reserve(value.length * bytesOfUnit + 1);
    this.#length += this.#buffer.write(value, this.#length);
    this.#buffer[this.#length] = 0;
    this.#length += 1;
    return this;
  }

  /** A text behind its length. */
  measured(value: string): this {
    this.#reserve(value.length * bytesOfUnit + 4);
    const bytes = this.#buffer.write(value, this.#length + 4);
    this.#buffer.writeInt32BE(bytes, this.#length);
    this.#length += bytes + 4;
    return this;
  }

  end(): void {
    this.#buffer.writeInt32BE(this.#length - this.#begunAt, this.#begunAt);
  }

  /** Forgets what was written and not taken: it is nobody else's. */
  clear(): void {
    this.#length = 0;
  }

  /** All messages since the last call. */
  take(): Buffer {
    const bytes = Buffer.from(this.#buffer.subarray(0, this.#length));
    this.clear();
    if (this.#buffer.length > sizeKept) this.#buffer = Buffer.allocUnsafe(sizeAtFirst);
    return bytes;
  }
}

const writer = new MessageWriter();

function parse(name: string, text: string): void {
  // The server finds out the types of the parameters.
  writer.begin("P").text(name).text(text).count(0).end();
}

/** Parameters and rows are sent as text. */
function bind(name: string, values: readonly SqlValue[]): void {
  writer.begin("B").text("").text(name).count(0).count(values.length);
  for (const value of values) {
    if (value === null) writer.int32(-1);
    else writer.measured(typeof value === "number" ? String(value) : value);
  }
  writer.count(0).end();
}

const describe = (): void => writer.begin("D").text("P").end();

const execute = (): void => writer.begin("E").text("").int32(0).end();

const sync = (): void => writer.begin("S").end();

/** The first word of what the server says of a statement that has run. */
const commandOf = (said: string): string => said.split(" ", 1)[0] ?? "";

/**
 * Of the library's class, since a connection with several queries under way takes no other. The library sends it and
 * passes the server's answers to it. It calls `callback` also when the connection is lost or the answers are late.
 */
export class Segment extends LibraryQuery {
  readonly #queries: readonly SentStatement[];
  readonly #session: Session;
  readonly #parserOf: ParserOf;
  /** The name under which a statement was prepared or is to be; null: it has none. */
  readonly #prepared: (Prepared | null)[] = [];
  readonly #answers: Answer[] = [];
  #shape: Shape | null = null;
  #rows: unknown[] = [];
  /** Longest wait for all answers; the library's own limit by default. */
  readonly query_timeout: number | undefined;
  callback: (error?: Error | null) => void;
  readonly answers: Promise<readonly Answer[]>;

  constructor(
    queries: readonly SentStatement[],
    session: Session,
    parserOf: ParserOf,
    answerMsMax: number | undefined,
  ) {
    super({ text: "" });
    this.#queries = queries;
    this.#session = session;
    this.#parserOf = parserOf;
    this.query_timeout = answerMsMax;
    const { promise, resolve } = Promise.withResolvers<readonly Answer[]>();
    this.answers = promise;
    this.callback = (error) => resolve(this.#settled(error ?? null));
  }

  override readonly submit = (connection: Connection): Error | null => {
    try {
      for (const query of this.#queries) this.#write(query);
    } catch (error) {
      writer.clear();
      return error instanceof Error ? error : new Error("the statement cannot be written", { cause: error });
    }
    sync();
    const bytes = writer.take();
    if (connection.stream.writable) connection.stream.write(bytes);
    return null;
  };

  #write({ text, values, name }: SentStatement): void {
    const known = name === undefined ? undefined : this.#session.get(name);
    const isReady = known !== undefined && (known.shape !== null || known.by === this);
    const isNew = name !== undefined && known === undefined;
    const prepared: Prepared | null = isReady ? known : isNew ? { by: this, shape: null } : null;
    if (isNew && prepared !== null) this.#session.set(name, prepared);
    this.#prepared.push(prepared);
    const boundTo = prepared === null ? "" : (name ?? "");
    if (!isReady) parse(boundTo, text);
    bind(boundTo, values);
    if (prepared === null || prepared.shape === null) describe();
    execute();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.#shape = shapeOf(fields.map(({ name, dataTypeID }) => ({ name, parse: this.#parserOf(dataTypeID) })));
  }

  handleDataRow({ fields: texts }: { readonly fields: readonly (string | null)[] }): void {
    const { fields, blank } = this.#shape ?? this.#prepared[this.#answers.length]?.shape ?? noShape;
    const row: Record<string, unknown> = { ...blank };
    for (const [index, { name, parse: read }] of fields.entries()) {
      const text = texts[index] ?? null;
      if (text !== null) row[name] = read(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const prepared = this.#prepared[this.#answers.length] ?? null;
    if (prepared !== null) prepared.shape ??= this.#shape ?? noShape;
    this.#answers.push({ ok: true, rows: this.#rows, command: commandOf(text) });
    this.#shape = null;
    this.#rows = [];
  }

  handleReadyForQuery(): void {
    this.callback();
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  /** The answers: of a failure, the error stands for the statement that has failed and for those that were left out. */
  #settled(error: Error | null): readonly Answer[] {
    const done = this.#answers.length;
    if (error === null && done === this.#queries.length) return this.#answers;
    const failed: Answer = { ok: false, error: error ?? new Error("the database has left statements unanswered") };
    // Whether the one that has failed was prepared is not known, so its name stays open. Those after it were not.
    const open = this.#prepared[done] ?? null;
    for (const [index, { name = "" }] of this.#queries.entries()) {
      const prepared = this.#prepared[index] ?? null;
      if (index <= done || prepared === null || prepared === open) continue;
      if (prepared.by === this && prepared.shape === null) this.#session.delete(name);
    }
    // The end of what is no transaction of its own can fail too: then nothing of it is kept.
    if (done === this.#queries.length) return this.#queries.map(() => failed);
    return this.#queries.map((_, index) => this.#answers[index] ?? failed);
  }
}
