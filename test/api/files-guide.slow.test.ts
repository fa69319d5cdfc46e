import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { codeBlocks } from '../support/code-blocks.ts';
import { createTemporaryFolder } from '../support/database.ts';
import { type FileStore, startFileStore } from './support/file-store.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';

const GUIDE = readFileSync(resolve(import.meta.dirname, '../../docs/how-to/files.md'), 'utf8');
const COMMANDS = codeBlocks(GUIDE)
  .filter(({ language }) => language === 'sh')
  .map(({ code }) => code);

describe('docs/how-to/files.md', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const bytes = randomBytes(3_000_000);
  let store: FileStore;
  let folder: string;
  let token: string;

  before(async () => {
    store = await startFileStore();
    folder = await createTemporaryFolder();
    await writeFile(join(folder, 'report.pdf'), bytes);
    const settings = { 'base.url': store.url, 'upload.url': store.url, 'api.key': 'a-key' };
    ({ token } = await service.createInstance('storing', settings));
  });
  after(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('sends a file with its fields, with JSON and as a new version, and gets it again', async () => {
    store.answer('/documents/7/content', keep, giveBack);
    let kept = Buffer.alloc(0);
    function keep(request: AsyncIterable<Buffer>, response: { end: () => void }): void {
      void Array.fromAsync(request).then((pieces) => {
        kept = Buffer.concat(pieces);
        response.end();
      });
    }
    function giveBack(_request: unknown, response: { end: (body: Buffer) => void }): void {
      response.end(kept);
    }
    const env = {
      ...process.env,
      CAUSEWAY: service.app.baseUrl,
      ACCOUNT: `Authorization: User ${service.userSecret}, Element ${token}`,
      ID: '7',
    };
    const answers: string[] = [];
    for (const command of COMMANDS) {
      const { stdout } = await promisify(execFile)('bash', ['-euc', command], { cwd: folder, env });
      answers.push(stdout);
    }
    expect(answers.slice(0, 3).map((answer) => JSON.parse(answer).id)).to.deep.equal(['7', '7', '7']);
    const [named, tagged] = store.requests.filter(({ url }) => url === '/documents');
    expect(named?.body.toString('latin1')).to.include('{"name":"Report of 2026.pdf"}').and.include('application/pdf');
    expect(tagged?.body.toString('latin1')).to.include('"tags":["draft"]');
    expect(kept.equals(bytes)).to.equal(true);
    expect((await readFile(join(folder, 'copy.pdf'))).equals(bytes)).to.equal(true);
  });
});
