import { createHook } from 'node:async_hooks';
import { expect } from 'chai';
import { type AddressLookup, createEgress } from '../../src/egress/index.ts';
import { json, type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { refusalOf } from './await.ts';
import { HOSTILE_URLS, type HostileUrl } from './hostile-urls.ts';

/** Counts every TCP connection this process begins, wherever it would lead. */
function countConnections() {
  let begun = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (type === 'TCPCONNECTWRAP') begun += 1;
    },
  });
  return {
    begun: () => begun,
    start: () => {
      begun = 0;
      hook.enable();
    },
    stop: () => hook.disable(),
  };
}

describe('hostile URLs', () => {
  const connections = countConnections();
  let servers: readonly MisbehavingServer[];
  let port: string;

  before(async () => {
    const loopback = await startMisbehavingServer({ otherwise: json('reached') });
    port = new URL(loopback.url).port;
    servers = [loopback];
  });

  after(() => Promise.all(servers.map((server) => server.close())));
  beforeEach(() => connections.start());
  afterEach(() => connections.stop());

  it('are at least 80 without twins', () => {
    const keys = HOSTILE_URLS.map(({ url, addresses = [] }) => `${url} ${addresses}`);
    expect(new Set(keys)).to.have.property('size', HOSTILE_URLS.length);
    expect(HOSTILE_URLS.length).to.be.greaterThan(80);
  });

  it('are measured by a counter that sees a connection', async () => {
    const egress = createEgress({ allow: ['127.0.0.1'] });
    await egress.request({ url: `http://127.0.0.1:${port}/` });
    await egress.close();
    expect(connections.begun()).to.equal(1);
    expect(servers.map((server) => server.connections())).to.deep.equal([1]);
  });

  for (const hostile of HOSTILE_URLS) {
    const response = hostile.addresses === undefined ? '' : ` at ${hostile.addresses}`;
    it(`${JSON.stringify(hostile.url)}${response} (${hostile.what}) is answered '${hostile.reason}'`, async () => {
      const url = hostile.url.replace('{port}', port);
      const before = servers.map((server) => server.connections());
      const egress = createEgress({ allow: [], lookup: lookUp(hostile), connectTimeoutMs: 1000 });
      const called = await refusalOf(egress.request({ url, timeoutMs: 2000 }));
      const checked = await refusalOf(egress.check(url));
      await egress.close();
      expect([called.reason, checked.reason]).to.deep.equal([hostile.reason, hostile.reason]);
      expect(called.message).to.equal(checked.message);
      expect(connections.begun(), 'connections begun').to.equal(0);
      expect(servers.map((server) => server.connections())).to.deep.equal(before);
    });
  }
});

function lookUp({ addresses }: HostileUrl): AddressLookup {
  return async (hostname) => {
    if (addresses === undefined) throw new Error(`ENOTFOUND ${hostname}`);
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
}
