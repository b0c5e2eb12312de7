/**
 * Every bound on what a client, a shop or a stranger can make the process hold in memory, do at once, or write to disk.
 *
 * docs/limits.md lists each with its value and how to change it; a test compares the two. Bounds on the fields of a
 * record are with the fields (operations/fields.ts), those of one engine with that engine.
 */

// Connections and requests on them (http/node).

/** Connections that a node serves. The first request of a further one is answered 503, and the connection is closed. */
export const connectionsMax = 2_000;

/**
 * Further connections that have asked for nothing yet. Beyond them the oldest gets this answer without being asked
 * anything.
 */
export const connectionsRefusedAtOnceMax = 1_000;

/**
 * Requests of one connection that may wait for their turn before nothing more is read from it. One of them runs at a
 * time.
 */
export const pipelinedMax = 16;

/** Requests of one connection that may wait for their turn: what one read of 64 KiB can hold beyond `pipelinedMax`. */
export const pipelinedReadMax = 1_000;

/** Requests of all connections that may wait behind another one of their connection. Each takes some kilobytes. */
export const requestsWaitingMax = 20_000;

/** Time for which requests are started before the event loop goes on to what else is due: sockets, timers, commits. */
export const roundMs = 10;

/** Times that connections are accepted between two such rounds: each time one of each listening socket. */
export const acceptTurnsMax = 32;

/** Sockets that listen on the port, on Linux. */
export const listeningSockets = 16;

/** A request is refused when another one has waited for its start for longer than this. */
export const startWaitMsMax = 1_000;

/**
 * Fewer requests than this may wait for their start for any time: twice what a shop may ask at once with its default
 * rate limit.
 */
export const startsWaitingMin = 240;

/** The least that a client is asked to wait when the process is overloaded. */
export const retryAfterMsMin = 1_000;

/** The most that a client is asked to wait when the process is overloaded. */
export const retryAfterMsMax = 30_000;

/**
 * Clients whose connection is refused are asked to retry at this rate, which takes about a tenth of the event loop's
 * time.
 */
export const refusedConnectionsPerSecond = 500;

/** From the connection, or the first byte of a later request, to the last of its headers. Then the answer is 408. */
export const headersTimeoutMs = 15_000;

/** From the first byte of a request to the last of its body; a file of 100,000 orders takes its minutes to import. */
export const requestTimeoutMs = 3_600_000;

/** Time for which an idle connection is kept open for the next request. */
export const keepAliveTimeoutMs = 65_000;

/** Interval at which these times are checked: what they end may take so much longer. */
export const timeoutCheckMs = 5_000;

/** Connections to a port of its own for `/metrics`: a few scrapers. */
export const scrapersMax = 20;

/** Request line and headers together; 500 line ids in a query fit (C31). More is answered 431. */
export const headerBytesMax = 65_536;

// Memory for bodies and answers.

/** The body of a request: 1 MB of the specification, inclusive (C10). */
export const bodyBytesMax = 1_048_576;

/**
 * Members of all objects in a body, a few times what the largest valid one has; as many arrays and objects. Reading
 * more would hold the event loop for too long.
 */
export const bodyMembersMax = 40_000;

/**
 * Members of one object in a large body, many times those of any valid one. Members that are unknown are copied,
 * spelled and reported one by one.
 */
export const objectMembersMax = 1_000;

/**
 * Values of one record of a file, with entries of arrays and the arrays and objects themselves. The longest line of an
 * order with its history has so many.
 */
export const recordValuesMax = 1_000_000;

/**
 * Values of a body or record of which every mistake is looked for. Of a larger one the first is told: each mistake
 * takes a kilobyte until it is.
 */
export const mistakenValuesMax = 100_000;

/** Bytes of a sign-in: a secret and a name. It is read before anybody is known. */
export const signInBytesMax = 16_384;

/** A message to `/mcp` that is no tool call (C71). */
export const messageBytesMax = 65_536;

/** Bodies of all requests that are being read or served. */
export const bodiesBytesMax = 67_108_864;

/** Time in which the body of a request must arrive. Files that are imported may take `requestTimeoutMs`. */
export const bodyArrivalMs = 60_000;

/** The body of an answer, 10 MiB: a client can be expected to hold this much in memory. */
export const responseBytesMax = 10_485_760;

/**
 * Answers that clients have not read yet, of all connections. Beyond it the connection is cut whose answer has waited
 * longest.
 */
export const unreadBytesMax = 67_108_864;

/** Answers of reads that a process remembers (D111). */
export const answersRememberedBytesMax = 16_777_216;

/**
 * Answers that have not been asked for of late, compressed (D398). On SQLite one of an order of 10 lines takes 1 KB
 * with all that belongs to it.
 */
export const answersPackedBytesMax = 134_217_728;

/** Characters of an answer that is kept compressed; a longer one is forgotten. It is expanded on the event loop. */
export const answerPackedLengthMax = 65_536;

/** Answers that are compressed at once, some 30 µs each, when another takes their place; further ones are forgotten. */
export const answersPackedAtOnce = 8;

/**
 * By how much Node's heap may grow after a collection before the next one begins, in percent of what that one has left
 * (D364). V8 takes up to 300.
 */
export const heapGrowthPercent = 30;

/**
 * Growth that a small heap is always allowed: collecting some 50 MB takes as long for 15 MB of garbage as for 48
 * (D393).
 */
export const heapGrowthBytesMin = 50_331_648;

/**
 * The most that a small heap may grow by, in percent. The bound in bytes follows one collection late, when the heap may
 * be larger (D393).
 */
export const heapGrowthPercentMax = 100;

/** Stored answers that were told again and that a process remembers. */
export const replaysRememberedBytesMax = 16_777_216;

/** Orders that a process remembers, so that a change does not read them anew (D248, D357). */
export const recordsRememberedBytesMax = 16_777_216;

/** Repeated requests whose fingerprint a process remembers: some 300 bytes each, and a short request itself. */
export const fingerprintsKnownMax = 4_096;

/**
 * A repeated request of at most so many characters, path and body, is remembered as it is; a longer one by its hash.
 */
export const fingerprintTextLengthMax = 2_048;

/** API keys with their shops that a process remembers: some 8,000. */
export const callersRememberedBytesMax = 16_777_216;

/** Bytes sent at a time of a document that is the same for everyone (openapi.json, the reference page). */
export const publishedPieceBytes = 16_384;

/**
 * A connection on which nothing can be sent, or of whose body nothing arrives, is cut after this time. Where the system
 * has taken a part of a write, Node waits for this time once more.
 */
export const silenceMs = 25_000;

/** Mistakes of a body or query that `error.details` names. */
export const detailsMax = 100;

/** Characters of one text in `error.details`, and of a caller's text in a message. */
export const detailLengthMax = 500;

// Files of shops (store/sqlite).

/**
 * Shops whose files are open at the same time. Fewer where the system grants the process few descriptors (`ulimit -n`).
 */
export const shopsOpenMax = 256;

/** Built-in storefronts whose files are open at the same time. */
export const sandboxesOpenMax = 256;

/**
 * Of the open shops, those used last keep what they have read in memory, up to 2 MB each, and all of their prepared
 * statements.
 */
export const shopsWarmMax = 64;

/**
 * Prepared statements that files have given back and that Node has not collected, of all shops: some 8 KB each. Beyond
 * it a file that is used no more is closed, which frees its statements at once.
 */
export const statementsDroppedMax = 512;

/**
 * Shops, open or closed, of which a process knows whether what it remembers of their rows still holds: some 10 KB each.
 */
export const shopsWatchedMax = 4_096;

/** Orders, of all shops, of which it is known whether they have changed, each by itself: some 200 bytes each. */
export const partsWatchedMax = 131_072;

/**
 * Reads of a shop after which its closed file is opened, although that closes another. While as many files are open as
 * may be, so many first reads take the rows from the closed file. That costs a third of opening one file and closing
 * another (D376).
 */
export const readsInPlaceMax = 8;

/** Files that are being closed to make room for others. While there are so many, no further one is opened. */
export const filesClosingMax = 64;

/**
 * API keys, sessions and invitations that the process remembers of shops, so that a forged one opens no file. A shop
 * itself counts as one.
 */
export const credentialsKnownMax = 200_000;

/** A shop with more of them than this is not remembered. */
export const credentialsKnownPerShopMax = 1_000;

// The audit log and the log.

/** Time for which the answer of a read waits for its audit row when the shop's turn does not come, on SQLite (D112). */
export const auditWaitMsMax = 5;

/**
 * Groups of audit rows of reads, one a shop, that may wait for their turns while their answers leave. Beyond it an
 * answer waits for its row.
 */
export const auditGroupsBehindMax = 256;

/**
 * Audit rows of reads in the journal of all shops, on SQLite, some 400 bytes each (D355). Beyond it the rows of the
 * shops that have waited longest are moved to their logs. Beyond twice as many, further rows are written to the shops'
 * logs.
 */
export const auditJournalRowsMax = 262_144;

/** With so many rows of one shop in the journal, they are moved to its log. */
export const auditJournalShopRows = 250;

/** Longest time for which a row is in the journal before it is synced to disk. */
export const auditJournalSyncMs = 1_000;

/**
 * Longest wait of a shop's first row in the journal. Then its rows are moved to the shop's log, and into its chain of
 * hashes.
 */
export const auditJournalWaitMs = 300_000;

/** Time for which a stop moves rows from the journal to the shops' logs. What is left is moved after the next start. */
export const auditJournalStopMs = 1_000;

/** Refusals of one API key in a minute that have a row each in the audit log. One more row counts the others. */
export const refusalRowsPerMinuteMax = 100;

/** API keys whose refusals of this minute are counted. */
export const refusalKeysMax = 10_000;

/** Delay after its first row until a link of the audit log gets its place in the chain, among nodes (D350). */
export const auditPlaceMs = 1_000;

/** Links of the audit log that get their places in one turn. */
export const auditLinksPlacedMax = 128;

/**
 * Rows of the audit log that one slice of its verification looks at, or one page of its links has; a link is never
 * divided.
 */
export const auditRowsVerifiedMax = 500;

/** Characters of a path in the audit log, the log and messages. */
export const pathLengthMax = 500;

// Time of the event loop.

/** Time of the event loop that a shop may owe the others before it gives way to their requests. */
export const loopFreeMs = 10;

/** The most that a shop owes the others: the longest that its next step waits. */
export const loopDebtMsMax = 250;

/**
 * After so long a group of writes of a shop ends, however many are in it. Reads and other shops' requests get the event
 * loop then (SQLite). A commit takes about 0.2 ms of it.
 */
export const groupHoldMsMax = 4;

/** The same while reads come, of any shop: those of the shop wait for a whole group (D440). */
export const groupHoldBesideReadsMsMax = 2;

/** The same while nothing but writes of this shop comes: larger groups write fewer pages (D440). */
export const groupHoldAloneMsMax = 8;

/** For so long after its arrival a request counts as one beside which a shop's writes run. */
export const besideMs = 1_000;

/** Writes that have waited for so long give way no more to reads that came after them (D441). */
export const giveWayMsMax = 100;

/**
 * Digests of shops' orders that are remembered by each reader thread. One of 200,000 orders takes about 27 million
 * bytes.
 */
export const digestsBytesMax = 67_108_864;

// People (C48, C49).

/** People of a shop. */
export const peopleMax = 1_000;

/** Invitations of a shop that are kept: open, used and expired ones. */
export const invitationsMax = 1_000;

/** Sessions of a person. Beyond it the oldest ends. */
export const sessionsOfPersonMax = 20;

/** Bearers of a session that are valid at a time: one for each page that is open. Beyond it the oldest ends. */
export const bearersOfSessionMax = 20;

/** Sessions of the operator. Beyond it the one that was not seen for longest ends. */
export const operatorSessionsMax = 100;

/** Saved queries of the console of a shop. */
export const consoleViewsMax = 1_000;

/** Of them, those of one person. */
export const consoleViewsOfPersonMax = 100;

/** Failed sign-ins that an address has at once, before it has to wait. */
export const signInFailuresMax = 30;

/** One more failed sign-in of an address is allowed after this time. */
export const signInFailureMs = 10_000;

// Links of suppliers and their proposals (C64).

/** Links of an order that can be used at a time. */
export const supplierLinksOfOrderMax = 20;

/** Replaced proposals of an order that are kept. */
export const replacedProposalsMax = 5;

/** Proposals of an order that a list shows, the newest. */
export const proposalsListedMax = 100;

/** Unknown links that an address may ask for at once, before it has to wait. A link that is good is always answered. */
export const linkGuessesMax = 30;

/** One more unknown link of an address is looked up after this time. */
export const linkGuessMs = 10_000;

/** Requests by one link that are answered at once, before it has to wait. */
export const linkRequestsMax = 60;

/** One more request by a link is answered after this time. */
export const linkRequestMs = 1_000;

/** Links whose requests are counted by a process. */
export const linksCountedMax = 10_000;

/** Lines that a supplier's page shows at a time. */
export const supplierPageLinesMax = 200;

// Disk.

/** Stored answers of a shop (Idempotency-Key). A keyed write whose answer does not fit is 503 and changes nothing. */
export const storedAnswersBytesMax = 4_294_967_296;

/**
 * Stored answers of this size and above may take half of `storedAnswersBytesMax`, so that small ones always find room.
 */
export const storedLargeBytesMin = 16_384;

/** Answers up to this length are stored as they are; longer ones compressed. */
export const storedPlainBytesMax = 2_048;

/**
 * Requests of a shop after which a slice of its old rows is deleted: five times as many as the requests can have added.
 */
export const sweepEveryRequests = 50;

/** The same for a shop whose file is closed: a sweep opens it then (SQLite). */
export const sweepLateRequests = 500;

/** Shops whose requests are counted for that. */
export const sweepShopsMax = 10_000;

/** Rows of each kind that one sweep deletes. */
export const sweptRowsMax = 250;

// Streams of events.

/** Streams of events that a process serves. The next one is refused. */
export const eventStreamsMax = 200;

/** Of them, those of one shop, so that others have some. */
export const eventStreamsOfShopMax = 100;

/** Of those of a shop, those of one person: as many as the pages that may be open. */
export const eventStreamsOfPersonMax = 20;

/** Interval at which a shop whose events are followed is polled for new ones, for all that follow them together. */
export const eventPollMs = 500;

/** A stream that has had nothing to tell for so long says that it is still there. */
export const eventHeartbeatMs = 15_000;

// Guesses of the admin token.

/** Wrong admin tokens from one address that are answered at once. */
export const guessesAtOnceMax = 5;

/** The longest that the answer to a wrong admin token waits. */
export const guessWaitMsMax = 2_000;

/** Addresses whose wrong admin tokens are counted. */
export const guessersMax = 10_000;
