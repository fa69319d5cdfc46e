import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ApiError,
  NetworkError,
  NotFoundError,
  ProviderError,
  RateLimitedError,
  TimeoutError,
} from '../../src/index.js';
import { Transport } from '../../src/transport.js';
import { type Answer, broken, failure, json, serve, silent } from '../server.js';

const SETTINGS = { timeoutMs: 5_000, retries: 3, retryForMs: 60_000, fetch };

/** Returns a transport whose pauses pass immediately, and have their maximum length. */
function transport(settings: Partial<typeof SETTINGS> = {}) {
  const pauses: number[] = [];
  let time = 0;
  const sleep = async (ms: number) => {
    pauses.push(ms);
    time += ms;
  };
  const surroundings = { now: () => time, random: () => 1, sleep };
  return { pauses, transport: new Transport({ ...SETTINGS, ...settings }, surroundings) };
}

describe('sending a request', () => {
  it('tries again what failed on the way, waiting twice as long each time', async () => {
    await using server = await serve(broken, failure(503, 'OVERLOADED'), failure(504, 'PROVIDER_TIMEOUT'), json(['a']));
    const { pauses, transport: client } = transport();
    const response = await client.send(server.url, {});
    assert.deepEqual(await response.json(), ['a']);
    assert.deepEqual(pauses, [250, 500, 1000]);
  });

  it('waits at least as long as Retry-After says', async () => {
    await using server = await serve(failure(429, 'RATE_LIMITED', { 'Retry-After': '7' }), json({}));
    const { pauses, transport: client } = transport();
    await client.send(server.url, { method: 'PATCH', body: '{}' });
    assert.deepEqual(pauses, [7_250]);
  });

  it('gives up after so many tries, and before it would wait too long', async () => {
    await using server = await serve(failure(503, 'OVERLOADED'));
    const few = transport({ retries: 2 });
    await assert.rejects(few.transport.send(server.url, {}), {
      code: 'OVERLOADED',
      status: 503,
      requestId: 'the-request',
    });
    assert.equal(server.received.length, 3);
    await using limited = await serve(failure(429, 'PROVIDER_RATE_LIMITED', { 'Retry-After': '61' }));
    const short = transport();
    await assert.rejects(short.transport.send(limited.url, {}), (error) => {
      assert.ok(error instanceof RateLimitedError);
      assert.equal(error.retryAfterSeconds, 61);
      return true;
    });
    assert.equal(limited.received.length, 1);
  });

  it('sends a POST again with one and the same key, and none with a form', async () => {
    await using server = await serve(broken, failure(409, 'CONFLICT'), json({}));
    const { transport: client } = transport();
    await client.send(server.url, { method: 'POST', body: '{}' });
    const [key, ...others] = server.received.map(({ headers }) => headers['idempotency-key']);
    assert.match(String(key), /^[0-9a-f-]{36}$/);
    assert.deepEqual(others, [key, key]);
    await using forms = await serve(failure(503, 'OVERLOADED'));
    await assert.rejects(client.send(forms.url, { method: 'POST', body: new FormData() }), ApiError);
    assert.deepEqual(
      forms.received.map(({ headers }) => headers['idempotency-key']),
      [undefined],
    );
  });

  it('sends once what could happen twice, and what is wrong', async () => {
    for (const [method, answer] of [
      ['PATCH', broken],
      ['PATCH', failure(503, 'OVERLOADED')],
      ['GET', failure(404, 'NOT_FOUND')],
      ['POST', failure(409, 'CONFLICT')],
      ['GET', failure(500, 'INTERNAL')],
    ] as const) {
      await using server = await serve(answer);
      await assert.rejects(transport().transport.send(server.url, { method }));
      assert.equal(server.received.length, 1, method);
    }
  });

  it('ends an attempt that takes too long, also in the middle of an answer', async () => {
    await using server = await serve(silent);
    let attempts = 0;
    // On a busy machine, an attempt can end before the server has received it.
    const counting: typeof fetch = (...request) => {
      attempts += 1;
      return fetch(...request);
    };
    const { transport: twice } = transport({ timeoutMs: 20, retries: 1, fetch: counting });
    await assert.rejects(twice.send(server.url, {}), TimeoutError);
    assert.equal(attempts, 2);
    await using stuck = await serve(
      (response) => void response.writeHead(200, { 'Content-Length': '10' }).write('12345'),
    );
    await assert.rejects(transport({ timeoutMs: 500, retries: 0 }).transport.send(stuck.url, {}), TimeoutError);
  });

  it('sends a form nowhere else, so that its file need not be kept', async () => {
    const elsewhere: Answer = (response) => response.writeHead(307, { Location: '/elsewhere' }).end();
    await using server = await serve(elsewhere, json({}));
    const sending = transport().transport.send(server.url, { method: 'POST', body: new FormData() });
    await assert.rejects(sending, NetworkError);
    assert.equal(server.received.length, 1);
  });

  it('gives a form more time, as it may be large', async () => {
    await using server = await serve(silent);
    const body = new FormData();
    body.append('file', new Blob([new Uint8Array(3 * 1_048_576)]));
    const sending = transport({ timeoutMs: 20, retries: 0 }).transport.send(server.url, { method: 'POST', body });
    await assert.rejects(sending, { name: 'TimeoutError', message: 'The service did not respond within 80 ms.' });
  });

  it('tells a broken answer from a whole one', async () => {
    await using server = await serve((response) => {
      response.writeHead(200, { 'Content-Length': '10' }).write('12345', () => response.destroy());
    });
    await assert.rejects(transport({ retries: 0 }).transport.send(server.url, {}), NetworkError);
  });

  it('stops when the caller does, with the reason of the caller', async () => {
    await using server = await serve(silent);
    const controller = new AbortController();
    const sent = transport().transport.send(server.url, { signal: controller.signal });
    const reason = new Error('I have changed my mind.');
    setImmediate(() => controller.abort(reason));
    await assert.rejects(sent, reason);
    await assert.rejects(transport().transport.send(server.url, { signal: controller.signal }), reason);
  });
});

describe('an error', () => {
  it('is of the class that its code stands for', async () => {
    const classes = {
      NOT_FOUND: NotFoundError,
      PROVIDER_REJECTED: ProviderError,
      RATE_LIMITED: RateLimitedError,
      A_NEW_ONE: ApiError,
    };
    for (const [code, ErrorClass] of Object.entries(classes)) {
      await using server = await serve(failure(422, code));
      await assert.rejects(transport().transport.send(server.url, {}), (error) => {
        assert.ok(error instanceof ErrorClass);
        assert.equal(Object.getPrototypeOf(error), ErrorClass.prototype);
        assert.equal(error.code, code);
        assert.equal(error.message, `It is ${code}.`);
        return true;
      });
    }
  });

  it('of a proxy has a code by its status', async () => {
    await using server = await serve((response) =>
      response.writeHead(502, { 'Elements-Request-Id': 'r-1' }).end('<html>'),
    );
    await assert.rejects(transport({ retries: 0 }).transport.send(server.url, {}), {
      code: 'HTTP_502',
      status: 502,
      requestId: 'r-1',
    });
  });
});
