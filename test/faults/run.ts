/**
 * Cuts the power of recorded services at hundreds of places, and then with planted faults, each of which must be found: `npm run test:faults`.
 * `OPENPO_FAULTS_IMAGES` is how many images of a power cut are looked at (default 400), `OPENPO_FAULTS_SEED` seeds the clients and the cuts. The last
 * line is `N passed, N failed`.
 */
import { mutants } from "./planted.ts";
import { mayInterpose } from "./interposer.ts";
import { type CutsTold, cutPower, type Recorded, record } from "./power-cuts.ts";

const images = Number(process.env["OPENPO_FAULTS_IMAGES"] ?? 400);
const seed = process.env["OPENPO_FAULTS_SEED"] ?? "1";
const imagesOfRecord = 100;
const requestsOfRecord = 150;
const killsOfRecord = 2;
/** Of 1,000. */
const slowSyncs = 150;
/** A planted fault is found within so many images. */
const imagesPlantedMax = 60;

/** Syncs that lie: they succeed, and what was written before them is lost all the same. */
const lies: readonly { readonly name: string; readonly keepsPromise: (place: string) => boolean }[] = [
  { name: "the sync of the -wal file left out", keepsPromise: (place) => !place.endsWith("-wal") },
  { name: "the sync of the database file left out", keepsPromise: (place) => !place.endsWith(".db") },
];

/** Faults of planted.ts, planted in the program that is recorded. */
const planted = ["answers-before-sync", "no-sync", "move-not-synced"];

let passed = 0;
let failed = 0;

function tell(name: string, isGood: boolean, { images: count, withinSync, askedAgain, findings }: CutsTold): void {
  if (isGood) passed += 1;
  else failed += 1;
  console.log(
    `${isGood ? "✔" : "✖"} ${name}: ${count} images, ${withinSync} of them within a sync, ${askedAgain} answers asked again, ${findings.length} findings`,
  );
  for (const finding of findings.slice(0, isGood ? 1 : 10)) console.log(`    ${finding.slice(0, 400)}`);
}

const shown = ({ calls, attempts, kills }: Recorded): string =>
  `${calls.length} calls, ${attempts.length} requests, ${kills} kills`;

if (!mayInterpose()) {
  console.log("This needs a C compiler (cc) on Linux.");
  failed += 1;
} else {
  for (let begun = 0; begun < images; begun += imagesOfRecord) {
    const own = `${seed}.${begun / imagesOfRecord + 1}`;
    const recorded = await record({ seed: own, requests: requestsOfRecord, kills: killsOfRecord, slowSyncs });
    const told = await cutPower(recorded, { seed: own, images: Math.min(imagesOfRecord, images - begun) });
    tell(`seed ${own}, ${shown(recorded)}`, told.findings.length === 0, told);
    if (begun > 0) continue;
    for (const { name, keepsPromise } of lies) {
      const lied = await cutPower(recorded, { seed: own, images: imagesPlantedMax, keepsPromise, findingsMax: 1 });
      tell(`planted: ${name}`, lied.findings.length > 0, lied);
    }
  }
  for (const mutant of planted) {
    const recorded = await record({ seed, requests: requestsOfRecord, kills: killsOfRecord, slowSyncs, mutant });
    const told = await cutPower(recorded, { seed, images: imagesPlantedMax, findingsMax: 1 });
    const breaks = mutants.find(({ name }) => name === mutant)?.breaks ?? "";
    tell(`planted: ${mutant} (${breaks})`, told.findings.length > 0, told);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
