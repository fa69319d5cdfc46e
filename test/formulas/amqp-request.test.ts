import { lookup } from 'node:dns';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { createAmqpRequest } from '../../src/formulas/steps/amqp-request.ts';
import type { StepInput } from '../../src/formulas/steps/outcome.ts';
import { listen } from '../../suite/listen.ts';
import { anyFailureOf } from '../support/failures.ts';

const guard = async () => ({ lookup: lookup as never });

describe('the step amqpRequest at a broker that falls silent', () => {
  let server: Server | undefined;
  const sockets = new Set<Socket>();

  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server?.close();
  });

  /** A broker that says this much of the handshake (AMQP 0-9-1, 4.2), and then nothing. */
  async function startBroker(words: readonly Buffer[]): Promise<number> {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
      const left = [...words];
      let isAsked = false;
      socket.on('data', (data) => {
        // Both come without a wait in between: what it accepted, and what it wants to open.
        isAsked ||= data.includes(CONNECTION_OPEN);
        if (left.length > 1 || isAsked) socket.write(left.shift() ?? '');
      });
    });
    return listen(server);
  }

  for (const [when, words] of [
    ['before the handshake', []],
    ['after the handshake', handshake()],
  ] as const)
    it(`ends with its execution: ${when}`, async () => {
      const url = `amqp://guest:guest@127.0.0.1:${await startBroker(words)}`;
      const ended = new AbortController();
      const properties = { url, queue: 'q', body: 'x' };
      const context = { config: {}, variables: new Set(), steps: {}, stepNames: new Set(), trigger: {}, info: {} };
      const step = { id: 1, name: 'send', type: 'amqpRequest', onSuccess: [], onFailure: [], properties };
      const input = { step, context, caller: { accountId: 1, userId: 1 }, signal: ended.signal };
      const failure = anyFailureOf(createAmqpRequest({ egress: { guard } })(input as unknown as StepInput));
      setTimeout(() => ended.abort(new Error('The service is stopping.')), 200);
      expect(await failure).to.have.property('message', 'The service is stopping.');
      while (sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    });
});

const CONNECTION_OPEN = Buffer.from([0, 10, 0, 40]);

function handshake(): readonly Buffer[] {
  const text = (value: string) => Buffer.concat([Buffer.from([0, 0, 0, value.length]), Buffer.from(value)]);
  const start = Buffer.concat([Buffer.from([0, 9, 0, 0, 0, 0]), text('PLAIN'), text('en_US')]);
  return [frame(10, start), frame(30, Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])), frame(41, Buffer.from([0]))];
}

/** A frame with a method of the class of connections. */
function frame(method: number, values: Buffer): Buffer {
  const payload = Buffer.concat([Buffer.from([0, 10, 0, method]), values]);
  const head = Buffer.from([1, 0, 0, 0, 0, 0, payload.length]);
  return Buffer.concat([head, payload, Buffer.from([0xce])]);
}
