import { expect } from 'chai';
import { type AddressLookup, createEgress } from '../../src/egress/index.ts';
import { json, type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { closed, refusalOf } from './await.ts';

describe('egress and names whose addresses change', () => {
  let allowed: MisbehavingServer;
  let forbidden: MisbehavingServer;

  beforeEach(async () => {
    allowed = await startMisbehavingServer({ address: '127.0.0.1' });
    forbidden = await startMisbehavingServer({ address: '127.0.0.2', port: Number(new URL(allowed.url).port) });
    for (const server of [allowed, forbidden]) server.answer('/', json(server.host));
  });

  afterEach(async () => {
    await allowed.close();
    await forbidden.close();
  });

  it('connects to the address it checked, and checks again for every new connection', async () => {
    allowed.answer('/', json(allowed.host, 200, { connection: 'close' }));
    const { lookup, names } = createChangingLookup(['127.0.0.1'], ['127.0.0.2']);
    const egress = createEgress({ allow: ['127.0.0.1'], lookup });
    const url = `http://rebinding.example.com:${new URL(allowed.url).port}/`;
    expect((await egress.request({ url })).body.toString()).to.contain('127.0.0.1');
    expect(names, 'look-ups for one connection').to.deep.equal(['rebinding.example.com']);
    await closed(allowed);
    expect((await refusalOf(egress.request({ url }))).reason).to.equal('refused');
    expect(forbidden.requests).to.have.length(0);
    await egress.close();
  });

  it('stays on the checked connection while it is kept alive', async () => {
    const { lookup } = createChangingLookup(['127.0.0.1'], ['127.0.0.2']);
    const egress = createEgress({ allow: ['127.0.0.1'], lookup, connectionsPerOrigin: 1 });
    const url = `http://rebinding.example.com:${new URL(allowed.url).port}/`;
    for (let call = 0; call < 3; call++) await egress.request({ url });
    expect(allowed.requests).to.have.length(3);
    expect(forbidden.requests).to.have.length(0);
    await egress.close();
  });

  it('never reaches an address it did not check, however often and at once the answers change', async () => {
    allowed.answer('/', json(allowed.host, 200, { connection: 'close' }));
    forbidden.answer('/', json(forbidden.host, 200, { connection: 'close' }));
    const changes = Array.from({ length: 40 }, (_, call) => (call % 2 === 0 ? ['127.0.0.1'] : ['127.0.0.2']));
    const { lookup, names } = createChangingLookup(...changes);
    const egress = createEgress({ allow: ['127.0.0.1'], lookup });
    const url = `http://rebinding.example.com:${new URL(allowed.url).port}/`;
    const calls = await Promise.allSettled(changes.map(() => egress.request({ url })));
    expect(calls.filter(({ status }) => status === 'fulfilled')).to.have.length(20);
    expect(allowed.requests).to.have.length(20);
    expect(forbidden.connections()).to.equal(0);
    expect(names, 'one look-up a connection: no answer is asked for again').to.have.length(40);
    await egress.close();
  });

  it('does not connect to the allowed one of several addresses when another is not', async () => {
    for (const addresses of [
      ['127.0.0.1', '127.0.0.2'],
      ['127.0.0.2', '127.0.0.1'],
    ]) {
      const egress = createEgress({ allow: ['127.0.0.1'], lookup: createChangingLookup(addresses).lookup });
      const url = `http://several.example.com:${new URL(allowed.url).port}/`;
      expect((await refusalOf(egress.request({ url }))).reason).to.equal('refused');
      await egress.close();
    }
    expect([allowed.connections(), forbidden.connections()]).to.deep.equal([0, 0]);
  });

  it('trusts no check that was made earlier', async () => {
    const { lookup } = createChangingLookup(['127.0.0.1'], ['127.0.0.2']);
    const egress = createEgress({ allow: ['127.0.0.1'], lookup });
    const url = `http://rebinding.example.com:${new URL(allowed.url).port}/`;
    await egress.check(url);
    expect((await refusalOf(egress.request({ url }))).reason).to.equal('refused');
    expect(forbidden.connections()).to.equal(0);
    await egress.close();
  });

  it('calls a name that is allowed by name wherever it leads', async () => {
    const { lookup } = createChangingLookup(['127.0.0.2']);
    const egress = createEgress({ allow: ['internal.example.com'], lookup });
    await egress.request({ url: `http://internal.example.com:${new URL(forbidden.url).port}/` });
    expect(forbidden.requests[0]?.headers.host).to.match(/^internal\.example\.com:/);
    await egress.close();
  });
});

function createChangingLookup(...answers: string[][]): { lookup: AddressLookup; names: string[] } {
  const names: string[] = [];
  const lookup: AddressLookup = async (hostname) => {
    const addresses = answers[Math.min(names.length, answers.length - 1)] ?? [];
    names.push(hostname);
    return addresses.map((address) => ({ address, family: 4 }));
  };
  return { lookup, names };
}
