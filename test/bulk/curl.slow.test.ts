import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { SHOP } from '../api/support/simulated.ts';
import { withDatabase } from '../api/support/tenants.ts';
import { useThings } from '../polls/things.ts';
import { USER_SECRET, useApp } from '../support/app.ts';
import { useTemporaryFolder } from '../support/database.ts';
import { until } from '../support/until.ts';

const COUNT = 250;
const run = promisify(execFile);

/** Clients that nobody here wrote. Each goes on with a file that broke off. */
const CLIENTS = {
  curl: (file: string) => ['-s', '-C', '-', '-o', file],
  wget: (file: string) => ['-q', '-c', '-O', file],
};

describe('a bulk file that other clients get', () => {
  const things = useThings({ bulkOptions: { chunkBytes: 2_000 } });
  const folder = useTemporaryFolder('suite');
  let header = '';
  let id = 0;
  let url = '';
  let whole: Buffer;
  let token = '';

  const curl = (...options: readonly string[]) => run('curl', ['-s', '-H', header, ...options]);

  async function complete(): Promise<number> {
    const { body } = await things.service.call('/bulk/query', {
      method: 'POST',
      token,
      body: { objectName: 'things' },
    });
    await until(
      async () => (await things.service.call(`/bulk/${body.id}/status`, { token })).body.status === 'COMPLETED',
    );
    return body.id;
  }

  before(async () => {
    for (let index = 0; index < COUNT; index++)
      things.provider.add(`t${1000 + index}`, { name: `Thing,"${index}" é😀` });
    ({ token } = await things.create('/of-instance', { 'event.objects': 'notes' }));
    header = `Authorization: User ${USER_SECRET}, Element ${token}`;
    id = await complete();
    url = `${things.service.app.baseUrl}/bulk/${id}/things`;
    whole = (await things.service.call(`/bulk/${id}/things`, { token, asBytes: true })).body;
  });

  for (const [client, argumentsFor] of Object.entries(CLIENTS)) {
    it(`${client} goes on with it where it broke off, and finds that it is whole`, async function resume() {
      if (!(await has(client))) return this.skip();
      const file = join(folder.path, client);
      for (const size of [1, 4_001, whole.length - 1, whole.length]) {
        await writeFile(file, whole.subarray(0, size));
        const headerOption = client === 'curl' ? ['-H', header] : ['--header', header];
        await run(client, [...argumentsFor(file), ...headerOption, url]);
        expect((await readFile(file)).equals(whole), `from ${size}`).to.equal(true);
      }
    });
  }

  it('curl takes the whole again where its beginning is of another file', async function changed() {
    if (!(await has('curl'))) return this.skip();
    const { stdout } = await curl('-H', 'If-Range: "other"', '-r', '10-', '-w', '%{http_code}', url);
    expect(stdout.slice(-3)).to.equal('200');
    expect(Buffer.from(stdout.slice(0, -3)).equals(whole)).to.equal(true);
  });

  it('curl keeps it with its tag, and asks for it again in vain', async function same() {
    if (!(await has('curl'))) return this.skip();
    const [tag, file] = [join(folder.path, 'tag'), join(folder.path, 'tagged')];
    const ask = () => curl('--etag-save', tag, '--etag-compare', tag, '-o', file, '-w', '%{http_code}', url);
    expect((await ask()).stdout).to.equal('200');
    expect((await ask()).stdout).to.equal('304');
  });

  for (const packed of [false, true]) {
    it(`curl fails when its job is deleted while it reads${packed ? ' it packed' : ''}`, async function deleted() {
      if (!(await has('curl'))) return this.skip();
      const doomed = await complete();
      // All but its beginning goes first: the next part is asked for as soon as one is sent.
      await withDatabase(things.service, (knex) =>
        knex('bulk_chunk').where({ job_id: doomed }).where('start_byte', '>', 0).delete(),
      );
      const file = join(folder.path, 'doomed');
      const packing = packed ? ['--compressed'] : [];
      const path = `${things.service.app.baseUrl}/bulk/${doomed}/things`;
      const failure = await curl(...packing, '-o', file, path).catch((error) => error);
      // A transfer that is not whole: 18; a broken one: 56, or 52 where nothing came; a packed one may end within a part: 23 or 61.
      expect(failure.code, String(failure)).to.be.oneOf([18, 23, 52, 56, 61]);
    });
  }
});

describe('a bulk file that curl sends', () => {
  const service = useApp();
  const folder = useTemporaryFolder('suite');
  let token = '';
  before(async () => {
    ({ token } = await service.createInstance('odata', SHOP));
  });

  it('is taken with its metadata in a file, in either order', async function sent() {
    if (!(await has('curl'))) return this.skip();
    const [rows, meta] = [join(folder.path, 'rows.csv'), join(folder.path, 'meta.json')];
    await writeFile(rows, 'Id,Name\n8000,By curl\n');
    await writeFile(meta, '{ "format": "csv", "action": "upsert" }\n');
    const parts = [
      `file=@${rows}`,
      `metaData=@${meta}`,
      `metaData=@${meta};type=application/json`,
      `metaData=<${meta}`,
    ];
    const header = `Authorization: User ${USER_SECRET}, Element ${token}`;
    for (const [one, other] of [
      [0, 1],
      [2, 0],
      [0, 3],
    ] as const) {
      const form = [parts[one], parts[other]].flatMap((part = '') => ['-F', part]);
      const { stdout } = await run('curl', ['-s', '-H', header, ...form, `${service.app.baseUrl}/bulk/Products`]);
      const { id, ...job } = JSON.parse(stdout);
      expect(job, stdout).to.include({ status: 'CREATED' });
      const status = async () => (await service.call(`/bulk/${id}/status`, { token })).body;
      await until(async () => (await status()).bulkFinishTime !== undefined);
      expect(await status()).to.include({ status: 'COMPLETED', recordsCount: 1, recordsFailedCount: 0 });
    }
  });
});

async function has(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  );
}
