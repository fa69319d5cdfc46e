import { once } from 'node:events';
import { connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { DEMO_CONFIGURATION } from '../../connectors/twilio/simulator.ts';
import { useApp } from '../support/app.ts';

/** Generous: the machine does other things as well. Before there were bounds each of these took 3 to 70 seconds. */
const MOST_MS = 2_000;

/** A provider in a thread of its own, so that its work does not count. It answers every path by its last segment. */
const PROVIDER = `
const { createServer } = require('node:http');
const { parentPort } = require('node:worker_threads');
const METADATA = '<?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>' +
  '<Schema Namespace="T" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Item"><Key><PropertyRef Name="id"/></Key>' +
  '<Property Name="id" Type="Edm.Int32" Nullable="false"/><Property Name="data" Type="Edm.Untyped"/></EntityType>' +
  '<EntityContainer Name="C"><EntitySet Name="items" EntityType="T.Item"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>';
const members = Array.from({ length: 1000000 }, (_, n) => '"m' + n + '":1').join();
const BODIES = {
  $metadata: METADATA,
  items: '{"value":[{"id":1,"data":{' + members + '}}]}',
};
const server = createServer((request, response) => {
  const name = request.url.split('?')[0].split('/').pop();
  response.writeHead(200, { 'content-type': name === '$metadata' ? 'application/xml' : 'application/json' });
  response.end(BODIES[name] ?? '{"value":[]}');
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

describe('a process that others depend on', () => {
  const service = useApp();
  let provider: Worker;
  let providerUrl: string;

  before(async () => {
    provider = new Worker(PROVIDER, { eval: true });
    const [port] = await once(provider, 'message');
    providerUrl = `http://127.0.0.1:${port}`;
  });
  after(() => provider.terminate());

  /** The longest turn of the event loop. */
  async function longestMsOf(work: () => Promise<unknown>): Promise<number> {
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    // Nothing is measured before its first tick.
    await sleep(50);
    await work();
    await sleep(50);
    delay.disable();
    return delay.max / 1e6;
  }

  it('does not stand still over a form of 40,000 names', async () => {
    const { eventUrl } = await service.createInstance('twilio', {
      simulator: true,
      ...DEMO_CONFIGURATION,
      'auth.token': 'the token of the tests',
    });
    const body = Array.from({ length: 40_000 }, (_, n) => n).join('&');
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': 'wrong' };
    let status = 0;
    const ms = await longestMsOf(async () => {
      ({ status } = await fetch(eventUrl, { method: 'POST', headers, body }));
    });
    expect(ms).to.be.below(MOST_MS);
    expect(status).to.equal(413);
  });

  it('does not stand still over a Cookie header of blanks', async () => {
    const { hostname, port } = new URL(service.app.baseUrl);
    const ms = await longestMsOf(async () => {
      const socket = connect({ host: hostname, port: Number(port) });
      const cookie = `causeway-session=a${' '.repeat(58_000)}x`;
      socket.write(
        `GET /elements/api-v2/elements HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ${cookie}\r\n\r\n`,
      );
      await once(socket.resume(), 'end');
    });
    expect(ms).to.be.below(MOST_MS);
  });

  it('does not stand still over a row of 1,000,000 members', async () => {
    const { token } = await service.createInstance('odata', { 'base.url': providerUrl });
    let status = 0;
    const ms = await longestMsOf(async () => {
      ({ status } = await service.call('/items', { token }));
    });
    expect(ms).to.be.below(MOST_MS);
    expect(status).to.equal(502);
  });
});
