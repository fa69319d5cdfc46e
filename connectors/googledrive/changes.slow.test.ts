import { expect } from 'chai';
import { type Connection, type Provider, startProvider } from '#connector/testing';
import { createFollower } from '../../suite/follower.ts';
import googledrive from './index.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const configuration = { ...DEMO_CONFIGURATION, 'oauth.user.token': DEMO_ACCESS_TOKEN };
const SHARED_DRIVE = '0ASharedDrive0PVA';

describe('The changes of Google Drive', () => {
  let provider: Provider;
  let connection: Connection;

  beforeEach(async () => {
    provider = await startProvider(googledrive, createSimulator, configuration);
    connection = provider.connect();
  });
  afterEach(() => provider.stop());

  /** A poll of an object that ran once. Its result is the events of each next run. */
  async function follow(objectName: string, more: object = {}) {
    const { simulatorsUrl } = provider;
    const { poll } = createFollower({
      connector: googledrive,
      config: { ...configuration, ...more },
      simulatorsUrl,
      objectName,
    });
    expect(await poll()).to.deep.equal([]);
    return async () => (await poll()).map(({ type, objectId }) => `${type} ${objectId}`);
  }
  const change = async (objectName: string, id: string, values: object) => {
    const { update } = await connection.describe(objectName);
    return connection.run(update, { id, values: { ...values }, fields: [] });
  };

  it('include those that set no time, such as a star, a move and the trash, each once', async () => {
    const poll = await follow('files');
    // Clients can set the time of a file, so that the list by time does not show what changed.
    await change('files', '1File100', { starred: true, modifiedTime: '2020-01-01T00:00:00Z' });
    expect(await poll()).to.deep.equal(['files.updated 1File100']);
    await change('files', '1File101', { trashed: true });
    await change('files', '1File102', { parents: ['1Folder103'] });
    expect(await poll()).to.have.members(['files.updated 1File101', 'files.updated 1File102']);
    expect(await poll()).to.deep.equal([]);
  });

  it('include a state that a file had before', async () => {
    const poll = await follow('files');
    for (const starred of [true, false, true]) {
      await change('files', '1File100', { starred, modifiedTime: '2020-01-01T00:00:00Z' });
      expect(await poll(), String(starred)).to.deep.equal(['files.updated 1File100']);
    }
  });

  it('report new files and folders under their own objects, and a removed one under both', async () => {
    const [files, folders] = [await follow('files'), await follow('folders')];
    const create = async (objectName: string) => {
      const object = await connection.describe(objectName);
      const record = await connection.run(object.create, { values: { name: 'New' }, fields: [] });
      return String(Object(record).id);
    };
    const [file, folder] = [await create('files'), await create('folders')];
    expect(await files()).to.deep.equal([`files.created ${file}`]);
    expect(await folders()).to.deep.equal([`folders.created ${folder}`]);
    await connection.run((await connection.describe('folders')).remove, { id: folder });
    expect(await files()).to.deep.equal([`files.deleted ${folder}`]);
    expect(await folders()).to.deep.equal([`folders.deleted ${folder}`]);
  });

  it('come from the log of the shared drive that the instance names', async () => {
    const [mine, shared] = [await follow('files'), await follow('files', { 'drive.id': SHARED_DRIVE })];
    await connection.run((await connection.describe('files')).remove, { id: '1File107' });
    await connection.run((await connection.describe('files')).remove, { id: '1File108' });
    expect(await shared()).to.deep.equal(['files.deleted 1File107']);
    expect(await mine()).to.deep.equal(['files.deleted 1File108']);
  });

  it('begin again where Google rejects the token', async () => {
    const { changes } = await connection.describe('files');
    const since = new Date().toISOString();
    const failure: unknown = await connection
      .run(changes?.feed, { since, token: '999999' })
      .catch((error: unknown) => error);
    expect(failure).to.include({ code: 'NOT_FOUND' });
    expect(await connection.run(changes?.feed, { since })).to.deep.include({ changes: [], token: '0' });
  });

  it('can continue at any page', async () => {
    const { changes } = await connection.describe('files');
    // One in ten of them is on the shared drive.
    await provider.command('/simulate/changes', { table: 'files', create: 1200 });
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const first = await connection.run(changes?.feed, { since, token: '0' });
    expect(first.changes).to.have.length(1000);
    expect(first.next).to.equal(first.token);
    const last = await connection.run(changes?.feed, { since, token: String(first.token) });
    expect([last.changes.length, last.next, last.token]).to.deep.equal([80, undefined, '1200']);
  });
});
