import { expect } from 'chai';
import type { SentWebhook } from '#connector';
import { type Connection, type CreateSimulator, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/query.ts';
import googledrive from './index.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';
import { channels } from './webhooks.ts';

const NO_FOLDER = "mimeType != 'application/vnd.google-apps.folder'";

describe('Google Drive', () => {
  let provider: Provider;
  let connection: Connection;
  const sent: SentWebhook[] = [];
  const configuration = { ...DEMO_CONFIGURATION, 'oauth.user.token': DEMO_ACCESS_TOKEN };
  before(async () => {
    const create: CreateSimulator = (options) => createSimulator({ ...options, send: (webhook) => sent.push(webhook) });
    provider = await startProvider(googledrive, create, configuration);
    connection = provider.connect();
  });
  after(() => provider.stop());

  for (const [where, q] of [
    ["name = 'It''s' AND trashed = false", "(name = 'It\\'s' and trashed = false)"],
    ["name = 'a\\'", "name = 'a\\\\'"],
    ["name = 'x'' or trashed = true or name = ''y'", "name = 'x\\' or trashed = true or name = \\'y'"],
    ["name LIKE 'Quarterly rep%'", "name contains 'Quarterly'"],
    ["name LIKE '(draft%'", ''],
    ["mimeType LIKE 'image/%'", "mimeType contains 'image'"],
    ["mimeType != 'application/vnd.google-apps.document'", "mimeType != 'application/vnd.google-apps.document'"],
    ["mimeType != 'text/plain'", ''],
    ["parentId IN ('a', 'b')", "('a' in parents or 'b' in parents)"],
    ["ownerEmail = 'o''neil@example.com'", "'o\\'neil@example.com' in owners"],
    ["modifiedTime > '2024-02-29T10:00:00.5Z'", "modifiedTime >= '2024-02-29T10:00:00Z'"],
    ["modifiedTime < '2024-02-29T10:00:00.5Z'", "modifiedTime <= '2024-02-29T10:00:01Z'"],
    ["modifiedTime < '2024-02-29T10:00:00.000000001Z'", "modifiedTime <= '2024-02-29T10:00:01Z'"],
    [
      "createdTime = '2024-02-29T10:00:00.5Z'",
      "(createdTime >= '2024-02-29T10:00:00Z' and createdTime <= '2024-02-29T10:00:01Z')",
    ],
  ] as const) {
    it(`asks for ${where}`, async () => {
      const files = await connection.describe('files');
      const filter = prepareQuery({ where }, files).plan.native;
      const request = files.list !== undefined && 'request' in files.list ? files.list.request : undefined;
      const input = { parameters: {}, fields: [], orderBy: [], limit: 5, ...(filter !== undefined && { filter }) };
      const { query } = request?.(input, connection.context.config) ?? {};
      expect(query?.q).to.equal([NO_FOLDER, q].filter((part) => part !== '').join(' and '));
    });
  }

  it('lists one shared drive where the instance names it', async () => {
    const shared = provider.connect({ 'drive.id': '0ASharedDrive0PVA' });
    await shared.list(await shared.describe('files'), {});
    expect(shared.requests.at(-1)).to.include('corpora=drive').and.include('driveId=0ASharedDrive0PVA');
  });

  it('moves a file by parameters, and lets a file stay where it is', async () => {
    const { update } = await connection.describe('files');
    const change = { id: '1File100', values: { parents: ['1Folder103'], name: 'Moved' }, fields: [] };
    await connection.run(update, change);
    await connection.run(update, change);
    const patches = connection.requests.filter((request) => request.startsWith('PATCH'));
    expect(patches.map((request) => /(addParents|removeParents)=/.test(request))).to.eql([true, false]);
  });

  it('registers a channel whose calls prove themselves by its token, and stops it', async () => {
    const url = 'https://causeway.example/events/1';
    const { create, remove } = channels.registration ?? {};
    const { id, secret = '', expiresInSeconds } = await connection.run(create, { url });
    expect(expiresInSeconds).to.equal(604_800);
    await provider.command('/simulate/changes', { table: 'files', create: 1 });
    const reported = sent.map(({ headers, body }) => {
      const call = { method: 'POST', url, headers, body: Buffer.from(body) };
      const judge = (token: string) =>
        channels.verify === 'unsigned' ? 'unsigned' : channels.verify(call, { secret: token, now: 0, config: {} });
      expect([judge(secret), judge('another')]).to.eql(['genuine', 'forged']);
      return channels.events(call, {}).map(({ action, objectName, raw }) => [action, objectName, JSON.stringify(raw)]);
    });
    const [sync, [change] = []] = reported;
    expect(sync).to.eql([]);
    expect(change?.slice(0, 2)).to.eql(['unknown', 'files']);
    expect(change?.[2]).to.not.include(secret);
    await connection.run(remove, { id, url });
    await provider.command('/simulate/changes', { table: 'files', create: 1 });
    expect(sent).to.have.lengthOf(2);
  });

  it('takes spent limits for limits, also as 403', () => {
    const judge = (status: number, reason: string) =>
      googledrive.classify?.({ status, headers: {}, body: { error: { message: 'No', errors: [{ reason }] } } })?.kind;
    expect(judge(403, 'userRateLimitExceeded')).to.equal('rateLimited');
    expect(judge(403, 'insufficientFilePermissions')).to.equal(undefined);
  });
});
