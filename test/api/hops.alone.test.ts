import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '../..');
/**
 * The numbers for a warm GET when this was written. If you raise them, write the reason here. Four of the files find out, before the
 * response, whether a formula waits for the request. Four functions count the call to the provider against the shared rate limit.
 */
const FILES = 54;
const NAMED_FUNCTIONS = 174;
const MORE_FILES = 3;
const MORE_FUNCTIONS = 10;

describe('the way of a request through the house', () => {
  it('grows by no more than a few files and functions unseen', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/hops.ts', '--json'], { cwd: ROOT });
    const { 'GET with where, warm': warm } = JSON.parse(stdout);
    expect(warm.files, 'files').to.be.within(1, FILES + MORE_FILES);
    expect(warm['named functions'], 'named functions').to.be.within(1, NAMED_FUNCTIONS + MORE_FUNCTIONS);
  }).timeout(120_000);
});
