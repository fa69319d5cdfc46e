import { gzipSync } from 'node:zlib';
import { eventOf, eventsTo } from './callers.ts';
import { answer, type Behaviour, endless, hang, trickle } from './provider.ts';
import { connectBamboo, flooding, type HostileInput, type Inputs, post } from './stage.ts';

const MEGABYTE = 1_000_000;

interface Receiving {
  readonly finding?: string;
  readonly behaviour: () => Behaviour;
  /** Number of URLs that receive the events, each of its own instance. */
  readonly receivers?: number;
  readonly most?: number;
}

/** Sends events to URLs that respond wrongly. */
function receiving({ finding, behaviour, receivers = 10, most = 400 }: Receiving): HostileInput {
  return flooding('receiver', { finding, most, parallel: 20 }, async (armed) => {
    const { tenant, site, name } = armed;
    const behave = behaviour();
    const urls = Array.from({ length: receivers }, (_, n) => site.receive(`${name}-${n}`, behave));
    const instances = await Promise.all(urls.map((url) => connectBamboo(armed, eventsTo(url))));
    return (n) => ({
      ...post('/events/test', tenant),
      body: eventOf(instances[n % instances.length]?.id ?? 0, { n }),
    });
  });
}

export const RECEIVERS: Inputs = {
  'receivers that hang': receiving({ finding: 'A4', behaviour: () => hang, receivers: 100, most: 3_000 }),
  'receivers that trickle': receiving({ behaviour: () => trickle('x'.repeat(10_000), 20, {}), receivers: 30 }),
  'receivers without end': receiving({ behaviour: () => endless(Buffer.alloc(65_536, 'x'), 300 * MEGABYTE, {}) }),
  'receivers with a gzip bomb': receiving({
    behaviour: () => answer(gzipSync(Buffer.alloc(300 * MEGABYTE)), { 'content-encoding': 'gzip' }, 500),
  }),
  'receivers with numbers': receiving({
    finding: 'B14',
    behaviour: () => answer('', { 'retry-after': '1e30' }, 503),
  }),
  'receivers that fail at once': receiving({ behaviour: () => answer('no', {}, 500), most: 2_000 }),
  'receivers that reset': receiving({ behaviour: () => (response) => void response.socket?.resetAndDestroy() }),
  'receivers that redirect': receiving({
    behaviour: () => (response, request) => void response.writeHead(307, { location: `${request.url}x` }).end(),
  }),
  'receivers with headers without end': receiving({
    behaviour: () => (response) =>
      void response.socket?.write(`HTTP/1.1 200 OK\r\n${`x-a: ${'b'.repeat(1_000)}\r\n`.repeat(20_000)}\r\n`),
  }),
};
