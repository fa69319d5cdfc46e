import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '../..');
/**
 * What a warm GET went through when this was written. Whoever makes it more says here why. Six of the files tell whether a mapping is in
 * force for the object: the mappings in memory of the organization, the account and the instance. Six others look before the response
 * whether a formula waits for the request. Ten functions count the call to the provider against the rate limit that all processes share.
 */
const FILES = 72;
const NAMED_FUNCTIONS = 242;
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
