import { expect } from 'chai';
import {
  type ChangesInput,
  type ConnectorContext,
  type ProviderRequest,
  type ProviderResponse,
  rejected,
} from '#connector';
import { type Provider, startProvider } from '#connector/testing';
import { createFollower } from '../../suite/follower.ts';
import { deletionsOf } from './deletions.ts';
import dynamics from './index.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const configuration = { ...DEMO_CONFIGURATION, 'oauth.user.token': DEMO_ACCESS_TOKEN };
const DAY_MS = 86_400_000;
const SINCE = '2030-01-01T00:00:00Z';

describe('The changes of Dataverse', () => {
  let provider: Provider;

  beforeEach(async () => {
    provider = await startProvider(dynamics, createSimulator, configuration);
  });
  afterEach(() => provider.stop());

  const change = async (counts: object) =>
    Object(await provider.command('/simulate/changes', { table: 'contact', ...counts }));

  /** A poll of contacts that ran once. Its result is the events of each next run. */
  async function follow() {
    const { simulatorsUrl } = provider;
    const { poll } = createFollower({
      connector: dynamics,
      config: configuration,
      simulatorsUrl,
      objectName: 'contact',
    });
    expect(await poll()).to.deep.equal([]);
    return async () => (await poll()).map(({ type, objectId }) => `${type} ${objectId}`);
  }

  it('include each deletion once, also of a record that nobody had seen', async () => {
    const poll = await follow();
    const { removed } = await change({ remove: 2 });
    const { created } = await change({ create: 1 });
    expect(await poll()).to.have.members([
      ...removed.map((id: string) => `contact.deleted ${id}`),
      ...created.map((id: string) => `contact.created ${id}`),
    ]);
    await change({ create: 1 });
    const { removed: unseen } = await change({ remove: 1 });
    expect(await poll()).to.deep.equal(unseen.map((id: string) => `contact.deleted ${id}`));
    expect(await poll()).to.deep.equal([]);
  });

  it('go on after Dataverse has forgotten the token, without the deletions in between', async () => {
    const poll = await follow();
    await change({ remove: 1 });
    const { updated } = await change({ update: 1 });
    await provider.command('/simulate/clock', { byMs: 8 * DAY_MS });
    expect(await poll()).to.deep.equal(updated.map((id: string) => `contact.updated ${id}`));
    const { removed } = await change({ remove: 1 });
    expect(await poll()).to.deep.equal(removed.map((id: string) => `contact.deleted ${id}`));
  });

  it('begin behind all pages of a table, of which only the ids are read', async () => {
    await change({ create: 6000 });
    const connection = provider.connect();
    const { changes } = await connection.describe('contact');
    const before = connection.requests.length;
    const first = await connection.run(changes?.feed, { since: SINCE });
    expect(first).to.have.all.keys('changes', 'next');
    const last = await connection.run(changes?.feed, { since: SINCE, cursor: String(first.next) });
    expect(last).to.have.all.keys('changes', 'token');
    for (const request of connection.requests.slice(before)) expect(request).to.include('=contactid');
    const { removed } = await change({ remove: 5200 });
    const behind = await connection.run(changes?.feed, { since: SINCE, token: String(last.token) });
    expect([behind.changes.length, behind.token]).to.deep.equal([5000, undefined]);
    const input = { since: SINCE, token: String(last.token), cursor: String(behind.next) };
    const rest = await connection.run(changes?.feed, input);
    expect([...behind.changes, ...rest.changes].map(({ id }) => id)).to.have.members(removed);
  });

  it('are polled without deletions where Dataverse does not track them', async () => {
    const connection = provider.connect();
    expect((await connection.describe('systemuser')).changes).to.not.have.property('feed');
    const { polls = [] } = dynamics;
    for (const name of polls) expect((await connection.describe(name)).changes, name).to.have.property('feed');
  });
});

describe('The delta links of Dataverse', () => {
  const table = { name: 'account', set: 'accounts', id: 'accountid', isTracked: true, about: {} };

  /** Reads a page of deletions. */
  async function read(body: object | Error, input: Partial<ChangesInput> = {}) {
    const requests: ProviderRequest[] = [];
    const send = async (request: ProviderRequest): Promise<ProviderResponse> => {
      requests.push(request);
      if (body instanceof Error) throw body;
      return { status: 200, headers: {}, body };
    };
    const context = { send, signal: new AbortController().signal } as Partial<ConnectorContext> as ConnectorContext;
    const feed = deletionsOf(table);
    if (!('run' in feed)) throw new Error('It has no run.');
    const page = await feed.run(context, { since: SINCE, ...input });
    return { page, requests };
  }

  it('are followed at the own path only, wherever they lead', async () => {
    const link = 'https://evil.example/api/data/v9.2/accounts?$select=accountid&$deltatoken=919042%2108%2f22%2f2017';
    const { page } = await read({ value: [], '@odata.deltaLink': link });
    expect(page.token).to.equal('$select=accountid&$deltatoken=919042%2108%2f22%2f2017');
    const { requests } = await read({ value: [] }, { token: String(page.token) });
    const query = { $select: 'accountid', $deltatoken: '919042!08/22/2017' };
    expect(requests).to.deep.equal([{ path: '/accounts', query }]);
  });

  for (const link of [
    'https://demo.api.crm.dynamics.com/api/data/v9.2/contacts?$deltatoken=1',
    'https://demo.api.crm.dynamics.com/api/data/v9.2/accounts',
    'accounts?$deltatoken=1',
  ]) {
    it(`are refused if they are no place of the table: ${link}`, async () => {
      const failure: unknown = await read({ value: [], '@odata.deltaLink': link }).catch((error: unknown) => error);
      expect(String(failure)).to.contain('a link of its own table');
    });
  }

  it('are missing where nothing changed, so that the token stays', async () => {
    expect((await read({}, { token: '$deltatoken=1' })).page).to.deep.equal({ changes: [] });
  });

  it('are required at the beginning', async () => {
    const failure: unknown = await read({ value: [] }).catch((error: unknown) => error);
    expect(String(failure)).to.contain('the delta link');
  });

  it('are refused to users who may not read the whole table, whose polls find no deletions', async () => {
    const { page } = await read(rejected('Principal user is missing prvReadAccount privilege.'));
    expect(page.changes).to.deep.equal([]);
    expect(page).to.have.all.keys('changes', 'until');
    const failure: unknown = await read(rejected('No.'), { token: '$deltatoken=1' }).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'PROVIDER_REJECTED' });
  });

  it('name deleted records, and rows that changed are none', async () => {
    const at = 'https://demo.api.crm.dynamics.com/api/data/v9.2/$metadata#accounts';
    const id = '2E451703-c686-e711-80e5-00155db19e6d';
    const { page } = await read(
      {
        '@odata.context': `${at}/$delta`,
        '@odata.deltaLink': 'https://demo.api.crm.dynamics.com/api/data/v9.2/accounts?$deltatoken=919058',
        value: [
          { '@odata.etag': 'W/"915244"', accountid: '60c4e274-0d87-e711-80e5-00155db19e6d' },
          { '@odata.context': `${at}/$deletedEntity`, id, reason: 'deleted' },
        ],
      },
      { token: '$deltatoken=919042' },
    );
    expect(page).to.deep.equal({ changes: [{ id: id.toLowerCase(), action: 'deleted' }], token: '$deltatoken=919058' });
  });
});
