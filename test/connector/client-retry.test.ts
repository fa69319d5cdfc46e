import { expect } from 'chai';
import { expectFailure } from '../support/failures.ts';
import { json, resetBeforeAnswer, resetInBody, status } from '../support/misbehaving-server.ts';
import { START, setUpClient, useClient } from './client-setup.ts';

describe('retries of the provider client', () => {
  const setup = useClient();

  for (const code of [429, 502, 503, 504]) {
    it(`sends a GET three times before it gives up on ${code}`, async () => {
      setup.server.answer('/api/a', status(code));
      await setup.fail({ path: '/a' });
      expect(setup.server.requests).to.have.length(3);
      expect(setup.sleeps, 'full jitter: half of 200 and of 400 ms').to.deep.equal([100, 200]);
    });
  }

  for (const code of [400, 401, 403, 404, 422, 500, 501]) {
    it(`sends a GET once when the answer is ${code}`, async () => {
      setup.server.answer('/api/a', status(code));
      await setup.fail({ path: '/a' });
      expect(setup.server.requests).to.have.length(1);
    });
  }

  for (const [name, behaviour] of Object.entries({ resetBeforeAnswer, resetInBody })) {
    it(`sends a GET again after a broken connection: ${name}`, async () => {
      setup.server.answer('/api/a', behaviour, behaviour, json('third time'));
      expect(await setup.send({ path: '/a' })).to.deep.include({ body: 'third time' });
      expect(setup.server.requests).to.have.length(3);
    });
  }

  it('sends PUT and DELETE again, with the body', async () => {
    for (const method of ['PUT', 'DELETE'] as const) {
      setup.server.answer('/api/a', status(503), json(1));
      await setup.send({ method, path: '/a', json: { a: 1 } });
    }
    expect(setup.server.requests.map(({ method, body }) => `${method} ${body}`)).to.deep.equal([
      'PUT {"a":1}',
      'PUT {"a":1}',
      'DELETE {"a":1}',
      'DELETE {"a":1}',
    ]);
  });

  for (const [name, behaviour] of Object.entries({
    resetBeforeAnswer,
    resetInBody,
    'a 503': status(503),
    'a 429 with Retry-After': status(429, { 'retry-after': '1' }),
  })) {
    it(`never sends a POST or PATCH twice: ${name}`, async () => {
      setup.server.answer('/api/a', behaviour);
      for (const method of ['POST', 'PATCH'] as const) await setup.fail({ method, path: '/a', json: {} });
      expect(setup.server.requests.map(({ method }) => method)).to.deep.equal(['POST', 'PATCH']);
      expect(setup.sleeps).to.deep.equal([]);
    });
  }

  it('sends a POST again when the connector says that it is idempotent', async () => {
    setup.server.answer('/api/a', status(503), json('found'));
    await setup.send({ method: 'POST', path: '/a', json: {}, idempotent: true });
    expect(setup.server.requests).to.have.length(2);
  });

  it('sends a GET once when the connector says that it is not idempotent', async () => {
    setup.server.answer('/api/a', status(503));
    await setup.fail({ path: '/a', idempotent: false });
    expect(setup.server.requests).to.have.length(1);
  });

  it('tries a POST again when the connection was refused, as nothing was sent', async () => {
    await setup.server.close();
    await setup.fail({ method: 'POST', path: '/a', json: {} });
    expect(setup.calls()).to.equal(3);
    expect(setup.sleeps).to.deep.equal([100, 200]);
  });

  it('does not try again when the call forbids it', async () => {
    setup.server.answer('/api/a', status(503));
    await setup.client.send(setup.call({ retry: false }), { path: '/a' }).catch(() => undefined);
    expect(setup.server.requests).to.have.length(1);
  });

  it('waits exactly as long as Retry-After says, in seconds or as a date', async () => {
    setup.server.answer(
      '/api/a',
      status(429, { 'retry-after': '2' }),
      status(503, { 'retry-after': new Date(START + 5_000).toUTCString() }),
      json('now'),
    );
    expect(await setup.send({ path: '/a' })).to.deep.include({ body: 'now' });
    expect(setup.sleeps).to.deep.equal([2000, 3000]);
  });

  it('does not wait longer than five seconds, but says how long', async () => {
    setup.server.answer('/api/a', status(429, { 'retry-after': '6' }));
    const error = await setup.fail({ path: '/a' });
    expect(error.retryAfterSeconds).to.equal(6);
    expect(error.message).to.equal('BambooHR returned 429: it accepts no more requests for now. Try again in 6 s.');
    expect(setup.server.requests).to.have.length(1);
  });

  it('does not wait beyond the deadline of the whole call', async () => {
    setup.server.answer('/api/a', status(429, { 'retry-after': '3' }));
    await expectFailure(setup.send({ path: '/a' }, { timeoutMs: 5_000 }), 'PROVIDER_RATE_LIMITED');
    expect(setup.sleeps).to.deep.equal([3000]);
    expect(setup.server.requests).to.have.length(2);
  });

  it('does not wait beyond the deadline though the clock of the machine is set back', async () => {
    let steadyMs = 0;
    const after = (ms: number, call: () => void) => {
      steadyMs += ms;
      setImmediate(call);
      return () => {};
    };
    const setBack = await setUpClient({ clock: { now: () => START - steadyMs, steady: () => steadyMs, after } });
    setBack.server.answer('/api/a', status(429, { 'retry-after': '3' }));
    await setBack.fail({ path: '/a' }, { timeoutMs: 5_000 });
    expect(setBack.server.requests).to.have.length(2);
    await setBack.close();
  });
});
