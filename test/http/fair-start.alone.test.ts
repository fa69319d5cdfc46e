import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { startFairly } from '../../src/http/connection.ts';
import { until } from '../support/until.ts';

/** Longer than a turn. */
const LONG_MS = 8;

describe('the start of requests', () => {
  it('lets callers take turns, however many requests one of them sends', async () => {
    const { begun, arrive } = listen((url) => url === 'many 0' && spend());
    for (let n = 0; n < 500; n++) arrive('many', n);
    arrive('few', 'first');
    arrive('few', 'second');
    await until(() => begun.length === 502);
    expect(begun.slice(0, 5)).to.deep.equal(['many 0', 'many 1', 'few first', 'many 2', 'few second']);
  });

  it('begins at once what comes while there is time', () => {
    const { begun, arrive } = listen();
    arrive('one', 'request');
    expect(begun).to.deep.equal(['one request']);
  });

  it('keeps the order of one caller', async () => {
    const { begun, arrive } = listen((url) => url === 'one 0' && spend());
    for (let n = 0; n < 100; n++) arrive('one', n);
    await until(() => begun.length === 100);
    expect(begun).to.deep.equal(Array.from({ length: 100 }, (_, n) => `one ${n}`));
  });

  for (const [how, work] of [
    ['at once', () => spend()],
    ['after promises that are kept', () => Promise.resolve().then(() => Promise.resolve().then(spend))],
  ] as const) {
    it(`lets everything else go on between requests that work long ${how}`, async () => {
      const { begun, arrive } = listen(work);
      for (let n = 0; n < 10; n++) {
        arrive('one', n);
        await promisesKept();
      }
      const begunByTurn: number[] = [];
      do {
        begunByTurn.push(begun.length);
        await nextTurn();
      } while (begun.length < 10);
      expect([...new Set(begunByTurn)]).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });
  }

  it('does not begin what nobody waits for any more', async () => {
    const { begun, arrive } = listen(spend);
    arrive('one', 'first');
    const gone = arrive('one', 'gone');
    arrive('one', 'there');
    gone.socket.destroy();
    await until(() => begun.length === 2);
    await nextTurn();
    expect(begun).to.deep.equal(['one first', 'one there']);
  });

  it('goes on after it had nothing to do', async () => {
    const { begun, arrive } = listen();
    for (const name of ['first', 'second']) {
      arrive('one', name);
      await until(() => begun.includes(`one ${name}`));
    }
  });
});

function listen(work: (url: string) => unknown = () => {}) {
  const begun: string[] = [];
  const handle = startFairly(
    (request) => {
      begun.push(String(request.url));
      void work(String(request.url));
    },
    (request) => String(request.url).split(' ', 1)[0] ?? '',
  );
  return {
    begun,
    arrive: (caller: string, name: string | number) => {
      const request = new IncomingMessage(new Socket());
      request.url = `${caller} ${name}`;
      handle(request, new ServerResponse(request));
      return request;
    },
  };
}

function spend(): void {
  const endsAtMs = performance.now() + LONG_MS;
  while (performance.now() < endsAtMs);
}

/** As between two events: what a request has begun in promises is done. */
async function promisesKept(): Promise<void> {
  for (let n = 0; n < 10; n++) await undefined;
}
