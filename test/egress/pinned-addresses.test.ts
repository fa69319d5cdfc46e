import { expect } from 'chai';
import { type AddressLookup, createEgress, type Egress } from '../../src/egress/index.ts';
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
    await Promise.all(opened.splice(0).map((egress) => egress.close()));
    await allowed.close();
    await forbidden.close();
  });

  const opened: Egress[] = [];
  /** Egress to what is allowed, over a resolver that answers these in turn; the last one stays. */
  function open(allow: string, answers: readonly string[][], connectionsPerOrigin?: number) {
    const names: string[] = [];
    const lookup: AddressLookup = async (hostname) => {
      const addresses = answers[Math.min(names.length, answers.length - 1)] ?? [];
      names.push(hostname);
      return addresses.map((address) => ({ address, family: 4 }));
    };
    const egress = createEgress({ allow: [allow], lookup, connectionsPerOrigin });
    opened.push(egress);
    return { egress, names };
  }
  const urlOf = (name: string) => `http://${name}.example.com:${new URL(allowed.url).port}/`;

  it('connects to the address it checked, and checks again for every new connection', async () => {
    allowed.answer('/', json(allowed.host, 200, { connection: 'close' }));
    const { egress, names } = open('127.0.0.1', [['127.0.0.1'], ['127.0.0.2']]);
    const url = urlOf('rebinding');
    expect((await egress.request({ url })).body.toString()).to.contain('127.0.0.1');
    expect(names, 'look-ups for one connection').to.deep.equal(['rebinding.example.com']);
    await closed(allowed);
    expect((await refusalOf(egress.request({ url }))).reason).to.equal('refused');
    expect(forbidden.requests).to.have.length(0);
  });

  it('stays on the checked connection while it is kept alive', async () => {
    const { egress } = open('127.0.0.1', [['127.0.0.1'], ['127.0.0.2']], 1);
    const url = urlOf('rebinding');
    for (let call = 0; call < 3; call++) await egress.request({ url });
    expect(allowed.requests).to.have.length(3);
    expect(forbidden.requests).to.have.length(0);
  });

  it('never reaches an address it did not check, however often and at once the answers change', async () => {
    allowed.answer('/', json(allowed.host, 200, { connection: 'close' }));
    forbidden.answer('/', json(forbidden.host, 200, { connection: 'close' }));
    const changes = Array.from({ length: 40 }, (_, call) => (call % 2 === 0 ? ['127.0.0.1'] : ['127.0.0.2']));
    const { egress, names } = open('127.0.0.1', changes);
    const url = urlOf('rebinding');
    const calls = await Promise.allSettled(changes.map(() => egress.request({ url })));
    expect(calls.filter(({ status }) => status === 'fulfilled')).to.have.length(20);
    expect(allowed.requests).to.have.length(20);
    expect(forbidden.connections()).to.equal(0);
    expect(names, 'one look-up a connection: no answer is asked for again').to.have.length(40);
  });

  it('does not connect to the allowed one of several addresses when another is not', async () => {
    for (const addresses of [
      ['127.0.0.1', '127.0.0.2'],
      ['127.0.0.2', '127.0.0.1'],
    ]) {
      const { egress } = open('127.0.0.1', [addresses]);
      const url = urlOf('several');
      expect((await refusalOf(egress.request({ url }))).reason).to.equal('refused');
    }
    expect([allowed.connections(), forbidden.connections()]).to.deep.equal([0, 0]);
  });

  it('trusts no check that was made earlier', async () => {
    const { egress } = open('127.0.0.1', [['127.0.0.1'], ['127.0.0.2']]);
    const url = urlOf('rebinding');
    await egress.check(url);
    expect((await refusalOf(egress.request({ url }))).reason).to.equal('refused');
    expect(forbidden.connections()).to.equal(0);
  });

  it('calls a name that is allowed by name wherever it leads', async () => {
    const { egress } = open('internal.example.com', [['127.0.0.2']]);
    await egress.request({ url: urlOf('internal') });
    expect(forbidden.requests[0]?.headers.host).to.match(/^internal\.example\.com:/);
  });
});
