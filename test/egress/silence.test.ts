import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { createEgress, EgressError } from '../../src/egress/index.ts';
import { listen } from '../../suite/listen.ts';
import { stopServer } from '../../suite/stop-server.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

const SILENCE_MS = 1000;

describe('a response that is passed on', () => {
  const clock = createVirtualClock();
  const egress = createEgress({ allow: ['127.0.0.0/8'], clock });
  const caller = new AbortController();
  const server = createServer((_request, response) => {
    response.write('first');
    server.emit('answered', response);
  });

  before(() => listen(server));
  after(async () => {
    caller.abort();
    await stopServer(server);
    await egress.close();
  });

  it('is given up when nothing has come for so long, counted from the last piece', async () => {
    const answered = once(server, 'answered');
    const url = `http://127.0.0.1:${Object(server.address()).port}/`;
    const { body } = await egress.stream({ url, silenceMs: SILENCE_MS, signal: caller.signal });
    const [response]: ServerResponse[] = await answered;
    const pieces = body[Symbol.asyncIterator]();
    expect(String((await pieces.next()).value)).to.equal('first');

    await clock.advance(SILENCE_MS - 1);
    response?.write('second');
    expect(String((await pieces.next()).value)).to.equal('second');
    await clock.advance(SILENCE_MS - 1);
    response?.write('third');
    expect(String((await pieces.next()).value)).to.equal('third');

    const next = pieces.next().catch((error: unknown) => error);
    await clock.advance(SILENCE_MS);
    const failure = await next;
    expect(failure).to.be.instanceOf(EgressError);
    expect(failure).to.include({
      reason: 'timeout',
      message: 'No data was sent to or received from 127.0.0.1 for 1000 ms.',
    });
  });
});
