import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeCredentials } from '../../src/accounts/credentials-file.ts';
import { useTemporaryFolder } from '../support/database.ts';

describe('writeCredentials', () => {
  const created = {
    organizationId: 1,
    accountId: 1,
    userId: 1,
    organizationSecret: 'organization-secret',
    userSecret: 'user-secret',
  };
  const baseUrl = 'http://127.0.0.1:8080/elements/api-v2';
  const folder = useTemporaryFolder('test');
  let dataDir: string;
  let path: string;

  beforeEach(() => {
    dataDir = join(folder.path, 'data');
    path = join(dataDir, 'credentials.json');
  });

  const content = async () => JSON.parse(await readFile(path, 'utf8'));

  it('writes what a first call needs, for the eyes of the owner only', async () => {
    expect(await writeCredentials(dataDir, { created, baseUrl })).to.equal(path);
    expect(await content()).to.deep.equal({ ...created, baseUrl });
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(await readdir(dataDir)).to.deep.equal(['credentials.json']);
  });

  it('leaves the file alone on a later start', async () => {
    await writeCredentials(dataDir, { created, baseUrl });
    const before = await stat(path);
    expect(await writeCredentials(dataDir, { baseUrl })).to.equal(path);
    const after = await stat(path);
    expect([after.ino, after.mtimeMs]).to.deep.equal([before.ino, before.mtimeMs]);
  });

  it('brings the base URL up to date and keeps the rest', async () => {
    await writeCredentials(dataDir, { created, baseUrl });
    await writeCredentials(dataDir, { baseUrl: 'https://api.example.com/elements/api-v2' });
    expect(await content()).to.deep.equal({ ...created, baseUrl: 'https://api.example.com/elements/api-v2' });
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
  });

  it('replaces the credentials of a database that is gone', async () => {
    await writeCredentials(dataDir, { created, baseUrl });
    await writeCredentials(dataDir, { created: { ...created, userSecret: 'new-secret' }, baseUrl });
    expect(await content()).to.deep.equal({ ...created, userSecret: 'new-secret', baseUrl });
  });

  it('writes nothing when the secrets are not known', async () => {
    expect(await writeCredentials(dataDir, { baseUrl })).to.equal(undefined);
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  it('does not overwrite a file that holds something else', async () => {
    await writeCredentials(dataDir, { created, baseUrl });
    for (const damaged of ['{"organizationSecret": "organiz', '[]', 'null']) {
      await writeFile(path, damaged);
      const error = await writeCredentials(dataDir, { baseUrl }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(Error);
      expect(error).to.have.property('message', `${path} does not hold a JSON object; move it away and start again`);
      expect(error).to.not.have.property('cause');
      expect(await readFile(path, 'utf8')).to.equal(damaged);
    }
  });
});
