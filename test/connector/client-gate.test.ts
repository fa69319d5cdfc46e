import { expect } from 'chai';
import type { CallGate } from '../../src/connector/client/index.ts';
import { AppError } from '../../src/errors.ts';
import { failureOf } from '../support/failures.ts';
import { json } from '../support/misbehaving-server.ts';
import { type ClientSetup, setUpClient } from './client-setup.ts';

describe('the provider client and the gate of a rate limit', () => {
  let setup: ClientSetup;
  before(async () => {
    setup = await setUpClient();
  });
  after(() => setup.close());

  /** A gate that notes what it is called for. */
  function createGate(take: CallGate['take'] = () => undefined) {
    const noted: unknown[] = [];
    const request = { askedAtMs: 1, taken: 2, answered: 3 };
    const gate: CallGate = {
      take: (signal) => {
        noted.push('take');
        return take(signal);
      },
      sent: () => {
        noted.push('sent');
        return request;
      },
      heard: (sent, state) => void noted.push(['heard', sent === request, state]),
      refused: (sent, waitMs) => void noted.push(['refused', sent === request, waitMs]),
      ended: () => void noted.push('ended'),
    };
    return { gate, noted };
  }

  it('reports what a response says of the limit', async () => {
    const { gate, noted } = createGate();
    const headers = { 'ratelimit-limit': '10', 'ratelimit-remaining': '9', 'ratelimit-reset': '8' };
    setup.server.answer('/api/limited', json({}, 200, headers));
    await setup.client.send(setup.call({ gate }), { path: '/limited' });
    const state = { limit: 10, remaining: 9, resetSeconds: 8 };
    expect(noted).to.deep.equal(['take', 'sent', ['heard', true, state], 'ended']);
  });

  it('reports a refusal with the wait that the provider requested, once for each request', async () => {
    const { gate, noted } = createGate();
    setup.server.answer('/api/refused', json({}, 429, { 'retry-after': '60' }));
    const error = await failureOf(setup.client.send(setup.call({ gate }), { path: '/refused' }));
    expect(error).to.include({ code: 'PROVIDER_RATE_LIMITED' });
    expect(noted).to.deep.equal(['take', 'sent', ['refused', true, 60_000], 'ended']);
  });

  it('sends a request only when the gate lets it pass', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { gate, noted } = createGate(() => promise);
    setup.server.answer('/api/waiting', json({}));
    const calls = setup.calls();
    const sending = setup.client.send(setup.call({ gate }), { path: '/waiting' });
    await new Promise(setImmediate);
    expect([...noted, setup.calls() - calls]).to.deep.equal(['take', 0]);
    resolve();
    await sending;
    expect([...noted, setup.calls() - calls]).to.deep.equal(['take', 'sent', 'ended', 1]);
  });

  it('counts the end of a request whose caller left while it waited', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { gate, noted } = createGate(() => promise);
    const caller = new AbortController();
    const sending = failureOf(setup.client.send(setup.call({ gate, signal: caller.signal }), { path: '/left' }));
    await new Promise(setImmediate);
    caller.abort(new AppError('OVERLOADED', 'The caller left'));
    resolve();
    expect((await sending).message).to.equal('The caller left');
    expect(noted).to.deep.equal(['take', 'ended']);
  });
});
