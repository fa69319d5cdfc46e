import { expect } from 'chai';
import { type Provider, startProvider } from '#connector/testing';
import salesforce from './index.ts';
import { CONNECTED } from './simulator/samples.ts';
import { createSimulator } from './simulator.ts';

describe('what Salesforce tells of deletions', () => {
  let provider: Provider;

  beforeEach(async () => {
    provider = await startProvider(salesforce, createSimulator, CONNECTED);
  });
  afterEach(() => provider.stop());

  const change = async (counts: object) =>
    Object(await provider.command('/simulate/changes', { table: 'Contact', ...counts }));

  it('is read to its end, and is nothing else', async () => {
    const connection = provider.connect();
    const { changes } = await connection.describe('Contact');
    await provider.command('/simulate/clock', { byMs: 86_400_000 });
    const since = new Date(Date.now() + 43_200_000).toISOString();
    await change({ create: 2100, update: 5 });
    const { removed } = await change({ remove: 2100 });
    const reported = [];
    let cursor: string | undefined;
    do {
      const page = await connection.run(changes?.feed, { since, ...(cursor !== undefined && { cursor }) });
      reported.push(...page.changes);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(reported.map(({ id }) => id)).to.have.members(removed);
    expect(new Set(reported.map(({ action }) => action))).to.deep.equal(new Set(['deleted']));
    expect(reported.every(({ at = '' }) => Date.parse(at) >= Date.parse(since))).to.equal(true);
    const calls = connection.requests.filter((request) => request.includes('/quer'));
    expect(calls).to.have.length(2);
  });

  it('is declared of objects that keep it, and only of those', async () => {
    const connection = provider.connect();
    const { objects } = await connection.discover();
    const reported = Object.entries(objects).map(([name, { changes = {} }]) => [name, Object.keys(changes)]);
    const all = ['updated', 'created', 'overlapSeconds', 'feed'];
    expect(Object.fromEntries(reported)).to.deep.include({ Account: all, Contact: all, AccountChangeEvent: [] });
  });
});
