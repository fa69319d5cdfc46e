import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { boundWaitMs, readRetryAfterMs } from '../src/retry-after.ts';

const NOW_MS = Date.UTC(2026, 0, 5, 12);
const DAY_MS = 24 * 3_600_000;
const ROOT = join(import.meta.dirname, '..');

describe('Retry-After', () => {
  const cases: readonly (readonly [string | undefined, number | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['120', 120_000],
    [' 3 ', 3_000],
    ['1.5', 1_500],
    ['0', 0],
    ['-5', undefined],
    ['1e30', undefined],
    ['soon', undefined],
    ['wait 5', undefined],
    ['x 2030', undefined],
    ['xyz, 2030 GMT', undefined],
    ['2030', 2_030_000],
    ['2026-01-05', undefined],
    ['Mon, 05 Jan 2026 12:01:00', undefined],
    ['Mon, 05 Jan 2026 12:01:00 GMT', 60_000],
    ['Monday, 05-Jan-26 12:01:00 GMT', 60_000],
    ['Mon Jan  5 12:01:00 2026', 60_000],
    ['2026-01-05T12:01:00Z', 60_000],
    ['2026-01-05T12:01:00.250Z', 60_250],
    ['2026-01-05T99:99:99Z', undefined],
    ['Mon, 05 Jan 2026 11:00:00 GMT', 0],
    ['Sat, 05 Jan 6030 12:00:00 GMT', DAY_MS],
    ['9'.repeat(15), DAY_MS],
    ['9'.repeat(400), DAY_MS],
  ];
  for (const [value, expected] of cases) {
    it(`reads ${JSON.stringify(value?.slice(0, 40))} as ${expected === undefined ? 'nothing' : `${expected} ms`}`, () => {
      expect(readRetryAfterMs(value, NOW_MS)).to.equal(expected);
    });
  }

  it('is bounded as a wait that a connector asks for is', () => {
    expect([-1, Number.NaN, undefined, 0, 5, Number.POSITIVE_INFINITY].map(boundWaitMs)).to.deep.equal([
      ...[undefined, undefined, undefined, 0, 5],
      DAY_MS,
    ]);
  });

  it('has one reader in the house', () => {
    const files = ['src', 'connectors'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter(({ name }) => name.endsWith('.ts') && !name.includes('.test.'))
        .map(({ parentPath, name }) => join(parentPath, name))
        // Simulators say it.
        .filter((file) => !file.includes('simulator')),
    );
    // Whether it is there may be asked anywhere.
    const takers = files.filter((file) =>
      /\[\s*['"]retry-after['"]\s*\](?! !== undefined)|get\(['"]retry-after/i.test(readFileSync(file, 'utf8')),
    );
    const strangers = takers.filter((file) => !/\breadRetryAfterMs\(/.test(readFileSync(file, 'utf8')));
    expect(takers).not.to.deep.equal([]);
    expect(strangers).to.deep.equal([]);
  });
});
