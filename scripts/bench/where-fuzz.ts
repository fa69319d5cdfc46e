/**
 * Throws random texts at the parser for some minutes.
 * `node scripts/bench/where-fuzz.ts [minutes, default 10] [--seed n]`: ends with 1 when the parser crashes or hangs.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { assertParserHolds, fuzzTexts } from '../../test/where/fuzzing.ts';

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' } },
  allowPositionals: true,
});
const minutes = Number(positionals[0] ?? 10);
const firstSeed = Number(values.seed ?? Date.now() % 1_000_000);
const ROUND = 5000;

const counts = { texts: 0, characters: 0, taken: 0 };
const property = fc.property(fuzzTexts, (text) => {
  counts.texts++;
  counts.characters += text.length;
  counts.taken += assertParserHolds(text);
});

console.log(`Fuzzing for ${minutes} minutes from seed ${firstSeed}`);
const endAt = performance.now() + minutes * 60_000;
let seed = firstSeed;
for (; performance.now() < endAt; seed++) {
  const run = fc.check(property, { seed, numRuns: ROUND });
  if (!run.failed) continue;
  console.error(`Seed ${seed}: ${JSON.stringify(run.counterexample)}`, run.errorInstance);
  process.exit(1);
}
console.log(
  `${counts.texts} texts (${counts.characters} characters), each read as filter, order, field list and statement; ` +
    `${counts.taken} readings succeeded, the others were WHERE_SYNTAX; seeds ${firstSeed} to ${seed - 1}`,
);
