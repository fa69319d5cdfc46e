import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { NotReadyError } from '../../src/failures.js';
import { readProfiles, withoutProfile, withProfile, writeProfiles } from '../../src/profiles.js';

const ONE = { url: 'http://127.0.0.1:1', userSecret: 'u', organizationSecret: 'o' };

describe('profiles', () => {
  let folder = '';
  let file = '';

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-cli-'));
    file = join(folder, 'causeway', 'profiles.json');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('are none before the first log-in', async () => {
    assert.deepEqual(await readProfiles(file), { current: 'default', profiles: {} });
  });

  it('are in a file that only the user can read, whatever was there before', async () => {
    await writeProfiles(withProfile(await readProfiles(file), 'one', ONE), file);
    await chmod(file, 0o644);
    await writeProfiles(withProfile(await readProfiles(file), 'two', ONE), file);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(dirname(file))).mode & 0o777, 0o700);
    assert.deepEqual(await readdir(dirname(file)), ['profiles.json']);
    assert.deepEqual(Object.keys((await readProfiles(file)).profiles), ['one', 'two']);
  });

  it('hand over to another one when the current one goes', () => {
    const both = withProfile(withProfile({ current: 'default', profiles: {} }, 'one', ONE), 'two', ONE);
    assert.equal(both.current, 'two');
    assert.deepEqual(withoutProfile(both, 'two'), { current: 'one', profiles: { one: ONE } });
    assert.equal(withoutProfile(both, 'one').current, 'two');
  });

  it('say so when the file is none of theirs', async () => {
    await writeProfiles({ current: 'one', profiles: { one: ONE } }, file);
    for (const text of ['{', '[]', '{"current":"one","profiles":{"one":{}}}']) {
      await writeFile(file, text);
      await assert.rejects(readProfiles(file), NotReadyError);
    }
  });
});
