import { expect } from 'chai';
import { createReach } from '../../src/egress/connect.ts';
import { createEgress, type Egress } from '../../src/egress/index.ts';
import { json, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { refusalOf } from './await.ts';

describe('egress and the simulators', () => {
  const simulators = useMisbehavingServer({ lifetime: 'test' });
  const other = useMisbehavingServer({ lifetime: 'test' });
  let egress: Egress;

  beforeEach(() => {
    for (const server of [simulators, other]) server.answer('/shop', json({ ok: true }));
    egress = createEgress({ allow: [], simulatorsUrl: `${simulators.url}/`, quotesPrivate: false });
  });

  afterEach(() => egress.close());

  it('reaches them although no address beyond public ones is allowed', async () => {
    const response = await egress.request({ url: `${simulators.url}/shop`, toSimulator: true });
    expect(response.status).to.equal(200);
    expect(response.quotable).to.equal(true);
  });

  it('reaches nothing else that way, not even another port of the same host', async () => {
    const error = await refusalOf(egress.request({ url: `${other.url}/shop`, toSimulator: true }));
    expect(error.reason).to.equal('refused');
    expect(other.requests).to.have.length(0);
  });

  it('does not reach them with a call that somebody else addressed', async () => {
    const error = await refusalOf(egress.request({ url: `${simulators.url}/shop` }));
    expect(error.reason).to.equal('refused');
    expect((await refusalOf(egress.check(`${simulators.url}/shop`))).reason).to.equal('refused');
    expect(simulators.requests).to.have.length(0);
  });
});

describe('egress and what may be quoted', () => {
  const server = useMisbehavingServer({ lifetime: 'test' });
  const opened: Egress[] = [];

  const open = (options: Partial<Parameters<typeof createEgress>[0]>) => {
    const egress = createEgress({ allow: ['127.0.0.0/8'], ...options });
    opened.push(egress);
    return egress;
  };

  beforeEach(() => server.answer('/shop', json({ ok: true })));
  afterEach(() => Promise.all(opened.splice(0).map((egress) => egress.close())));

  it('quotes an address that is not public unless told otherwise', async () => {
    expect((await open({}).request({ url: `${server.url}/shop` })).quotable).to.equal(true);
  });

  it('does not quote an address that is not public where it may not', async () => {
    const egress = open({ quotesPrivate: false });
    expect((await egress.request({ url: `${server.url}/shop` })).quotable).to.equal(false);
    expect((await egress.request({ url: `${server.url}/shop` })).quotable, 'on the kept connection').to.equal(false);
  });

  it('judges a name by every address it ever led to', async () => {
    const egress = open({
      allow: ['shop.example'],
      quotesPrivate: false,
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    const url = `http://shop.example:${new URL(server.url).port}/shop`;
    expect((await egress.request({ url })).quotable).to.equal(false);
  });

  it('keeps in mind that a name led to an address that is not public', () => {
    const reach = createReach();
    reach.note('shop.example', [{ address: '8.8.8.8', family: 4 }]);
    expect(reach.isPublic('shop.example')).to.equal(true);
    reach.note('shop.example', [
      { address: '8.8.8.8', family: 4 },
      { address: '10.0.0.1', family: 4 },
    ]);
    reach.note('shop.example', [{ address: '8.8.8.8', family: 4 }]);
    expect(reach.isPublic('shop.example')).to.equal(false);
    expect(reach.isPublic('other.example'), 'a name nobody connected to').to.equal(false);
  });
});
