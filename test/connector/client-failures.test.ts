import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import type { ErrorCode } from '../../src/errors.ts';
import { expectFailure, failureOf } from '../support/failures.ts';
import {
  brokenJson,
  createGzipBomb,
  endless,
  garbage,
  hang,
  html,
  json,
  resetBeforeAnswer,
  resetInBody,
  stallInBody,
  status,
} from '../support/misbehaving-server.ts';
import { API_KEY, START, setUpClient, useClient } from './client-setup.ts';

const MEGABYTE = 1024 * 1024;

const BY_STATUS: [number, ErrorCode, string][] = [
  [400, 'PROVIDER_REJECTED', 'BambooHR returned 400: it rejects the request. Correct the request.'],
  [
    401,
    'INSTANCE_CREDENTIALS_FAILED',
    'BambooHR returned 401: it rejects the credentials of this instance. Correct them in the configuration of the instance.',
  ],
  [403, 'PROVIDER_REJECTED', 'BambooHR returned 403: it rejects the request. Correct the request.'],
  [404, 'NOT_FOUND', 'BambooHR returned 404: it has nothing with this name or id.'],
  [409, 'PROVIDER_REJECTED', 'BambooHR returned 409: it rejects the request. Correct the request.'],
  [410, 'NOT_FOUND', 'BambooHR returned 410: it has nothing with this name or id.'],
  [412, 'PROVIDER_REJECTED', 'BambooHR returned 412: it rejects the request. Correct the request.'],
  [422, 'PROVIDER_REJECTED', 'BambooHR returned 422: it rejects the request. Correct the request.'],
  [429, 'PROVIDER_RATE_LIMITED', 'BambooHR returned 429: it accepts no more requests for now. Try again in 60 s.'],
  [500, 'PROVIDER_UNAVAILABLE', 'BambooHR returned 500: it cannot serve the request at the moment. Try again later.'],
  [503, 'PROVIDER_UNAVAILABLE', 'BambooHR returned 503: it cannot serve the request at the moment. Try again later.'],
  [304, 'PROVIDER_PROTOCOL', 'BambooHR returned 304: Causeway does not understand the response.'],
];

describe('failures of the provider client', () => {
  const setup = useClient();

  for (const [code, errorCode, message] of BY_STATUS) {
    it(`answers ${errorCode} for a ${code}`, async () => {
      setup.server.answer('/api/a', status(code));
      const error = await setup.fail({ path: '/a' });
      expect(error.code).to.equal(errorCode);
      expect(error.message).to.equal(message);
      expect(error.providerMessage).to.equal(undefined);
    });
  }

  for (const method of ['POST', 'PATCH', 'PUT', 'DELETE'] as const) {
    it(`answers CONFLICT for a 409 to a ${method}, which may change something`, async () => {
      setup.server.answer('/api/a', status(409));
      await expectFailure(
        setup.send({ method, path: '/a' }),
        'CONFLICT',
        'BambooHR returned 409: the request conflicts with an existing record, such as one with the same key.',
      );
    });
  }

  it('gives 60 s for a 429 that says nothing, and what it says otherwise', async () => {
    const inTwoMinutes = new Date(START + 120_000).toUTCString();
    const spent = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '0' };
    for (const [headers, seconds] of [
      [{}, 60],
      [{ 'retry-after': '90' }, 90],
      [{ 'retry-after': inTwoMinutes }, 120],
      [{ 'retry-after': 'soon' }, 60],
      [{ 'retry-after': 'wait 5' }, 60],
      [{ ...spent, 'x-ratelimit-reset': '45' }, 45],
      [{ ...spent, 'x-ratelimit-reset': String(START / 1000 + 30) }, 30],
    ] as const) {
      setup.server.answer('/api/a', status(429, headers));
      const error = await setup.fail({ method: 'POST', path: '/a' });
      expect(error.retryAfterSeconds, JSON.stringify(headers)).to.equal(seconds);
    }
  });

  it('gives the Retry-After of a 503 only when there is one', async () => {
    setup.server.answer('/api/a', status(503, { 'retry-after': '7' }), status(503));
    expect((await setup.fail({ method: 'POST', path: '/a' })).retryAfterSeconds).to.equal(7);
    expect((await setup.fail({ method: 'POST', path: '/a' })).retryAfterSeconds).to.equal(undefined);
  });

  describe('as the connector judges them', () => {
    it('takes its word over the status', async () => {
      setup.server.answer('/api/a', json({ ok: false, error: 'invalid_auth' }));
      const classify = () => ({ kind: 'credentials', message: 'token revoked' }) as const;
      const error = await expectFailure(setup.send({ path: '/a' }, { classify }), 'INSTANCE_CREDENTIALS_FAILED');
      expect(error.providerMessage).to.equal('token revoked');
    });

    it('takes null for a success', async () => {
      setup.server.answer('/api/a', json({ partial: true }, 404));
      expect(await setup.send({ path: '/a' }, { classify: () => null })).to.deep.include({ status: 404 });
    });

    it('goes by the status when it says nothing', async () => {
      setup.server.answer('/api/a', status(404));
      await expectFailure(setup.send({ path: '/a' }, { classify: () => undefined }), 'NOT_FOUND');
    });

    it('goes by the status for what it leaves open, with its words', async () => {
      setup.server.answer('/api/a', status(404), json({ ok: false }), status(200));
      const said = [{ message: 'gone' }, {}, { status: 410, message: 'a part is gone' }];
      const classify = () => said.shift();
      const notFound = await setup.fail({ path: '/a' }, { classify });
      expect([notFound.code, notFound.providerMessage]).to.deep.equal(['NOT_FOUND', 'gone']);
      await expectFailure(setup.send({ path: '/a' }, { classify }), 'PROVIDER_REJECTED');
      const part = await setup.fail({ path: '/a' }, { classify });
      expect(part.message).to.equal('BambooHR returned 410: it has nothing with this name or id.');
      expect(part.providerMessage).to.equal('a part is gone');
    });

    it('follows a redirect that it only has words for', async () => {
      setup.server.answer('/api/a', status(302, { location: '/api/b' }));
      setup.server.answer('/api/b', json('there'));
      const classify = (response: { status: number }) => (response.status === 302 ? { message: 'moved' } : undefined);
      expect(await setup.send({ path: '/a' }, { classify })).to.deep.include({ body: 'there' });
    });

    it('waits as long as it says, and tries again where it says "later" for an unusual status', async () => {
      setup.server.answer('/api/a', status(400), json('now'));
      const classify = (response: { status: number }) =>
        response.status === 400 ? ({ kind: 'unavailable', retryAfterMs: 1500 } as const) : undefined;
      expect(await setup.send({ path: '/a' }, { classify })).to.deep.include({ body: 'now' });
      expect(setup.sleeps).to.deep.equal([1500]);
    });
  });

  describe('whose answer is not what was asked for', () => {
    it('does not take a page for an answer, nor shows it', async () => {
      setup.server.answer('/api/a', html);
      const error = await expectFailure(
        setup.send({ path: '/a' }),
        'PROVIDER_PROTOCOL',
        'BambooHR returned 200 without the requested JSON (text/html).',
      );
      expect(error.providerMessage).to.equal(undefined);
    });

    it('shows the beginning of broken JSON, without secrets', async () => {
      const body = `{"key":"${API_KEY}",${'x'.repeat(500)}`;
      setup.server.answer('/api/a', status(200, { 'content-type': 'application/json' }, body), brokenJson);
      const error = await expectFailure(setup.send({ path: '/a' }), 'PROVIDER_PROTOCOL');
      expect(error.providerMessage).to.match(/^\{"key":"\[redacted\]",x+…$/);
      expect(error.providerMessage).to.have.length(200);
      expect((await setup.fail({ path: '/a' })).providerMessage).to.equal('{"rows":[{"id":1},');
    });

    it('stops reading after 32 MB', async () => {
      setup.server.answer('/api/a', endless(200 * MEGABYTE));
      await expectFailure(
        setup.send({ path: '/a' }),
        'PROVIDER_PROTOCOL',
        'The response of BambooHR is too large: 127.0.0.1 sent more than 33554432 bytes. Request less.',
      );
      expect(setup.server.bytesSent()).to.be.within(32 * MEGABYTE, 48 * MEGABYTE);
      expect(setup.server.requests).to.have.length(1);
    });

    it('unpacks no more than 32 MB', async () => {
      setup.server.answer('/api/a', await createGzipBomb(100 * MEGABYTE));
      expect((await setup.fail({ path: '/a' })).message).to.contain('is too large');
    });

    it('does not speak with something that is not HTTP', async () => {
      setup.server.answer('/api/a', garbage);
      await expectFailure(setup.send({ path: '/a' }), 'PROVIDER_PROTOCOL');
    });
  });

  describe('that are none of the provider', () => {
    for (const [name, behaviour] of Object.entries({ hang, stallInBody })) {
      it(`answers PROVIDER_TIMEOUT without a retry when the provider does this: ${name}`, async () => {
        setup.server.answer('/api/a', behaviour);
        await expectFailure(
          setup.send({ path: '/a' }, { timeoutMs: 60 }),
          'PROVIDER_TIMEOUT',
          'BambooHR did not respond within 0.06 s. Try again later, or request less.',
        );
        expect(setup.calls()).to.equal(1);
      });
    }

    it('answers PROVIDER_UNAVAILABLE when nobody listens', async () => {
      await setup.server.close();
      await expectFailure(
        setup.send({ path: '/a' }),
        'PROVIDER_UNAVAILABLE',
        'BambooHR cannot be reached: The service could not connect to 127.0.0.1. Try again later.',
      );
    });

    it('throws the reason of the abort of its caller', async () => {
      setup.server.answer('/api/a', hang);
      const controller = new AbortController();
      const reason = new Error('the client went away');
      const sent = setup.client.send(setup.call({ signal: controller.signal }), { path: '/a' }).catch((error) => error);
      while (setup.server.requests.length === 0) await delay(5);
      controller.abort(reason);
      expect(await sent).to.equal(reason);
    });

    it('throws the reason of an abort during a wait', async () => {
      const controller = new AbortController();
      const reason = new Error('the client went away');
      const after = () => {
        setImmediate(() => controller.abort(reason));
        return () => {};
      };
      const waiting = await setUpClient({ clock: { ...SYSTEM_CLOCK, after } });
      waiting.server.answer('/api/a', status(503));
      const sent = waiting.client.send(waiting.call({ signal: controller.signal }), { path: '/a' });
      expect(await sent.catch((error) => error)).to.equal(reason);
      expect(waiting.server.requests).to.have.length(1);
      await waiting.close();
    });
  });

  it('shows no secret, however the provider quotes it', async () => {
    const token = Buffer.from(`${API_KEY}:x`).toString('base64');
    const quotes = [API_KEY, encodeURIComponent(API_KEY), token, `Basic ${token}`];
    const behaviours = quotes.flatMap((quote) => [
      json({ error: { message: `${'x'.repeat(490)}${quote} is wrong` } }, 400),
      status(400, { 'content-type': 'text/plain' }, `wrong: ${quote}`),
      status(200, { 'content-type': `text/html; x=${encodeURIComponent(quote)}` }, '<html>'),
    ]);
    setup.server.answer('/api/a', ...behaviours, resetBeforeAnswer);
    for (let sent = 0; sent < behaviours.length + 1; sent++) {
      const error = await failureOf(setup.client.send(setup.call(), { path: '/a', idempotent: false }));
      for (const quote of quotes) {
        expect(`${error.message} ${error.providerMessage} ${error.stack}`).to.not.contain(quote);
        expect(error.providerMessage ?? '').to.not.contain(quote.slice(0, 8));
      }
    }
    expect(setup.server.requests).to.have.length(behaviours.length + 1);
  });

  it('says that a broken connection is not an answer', async () => {
    setup.server.answer('/api/a', resetInBody);
    const error = await expectFailure(setup.send({ method: 'POST', path: '/a' }), 'PROVIDER_UNAVAILABLE');
    expect(error.message).to.contain('BambooHR did not respond completely');
  });
});
