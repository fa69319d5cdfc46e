import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { json, status, useMisbehavingServer } from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';

const rowsOf = (count: number, characters: number) =>
  Array.from({ length: count }, (_, id) => ({ id, name: String(id).padEnd(characters, 'x') }));

describe('a provider whose answers are large', () => {
  const service = useApp({
    CONNECTORS_PATH: OUTSIDE_CONNECTORS,
    SIMULATORS_PORT: 'off',
    PROVIDER_MEMORY_MB: '16',
  });
  const provider = useMisbehavingServer();
  let token: string;
  before(async () => {
    provider.answer('/me', json({}));
    const configuration = { 'base.url': provider.url, 'api.key': 'key of the provider' };
    ({ token } = await service.createInstance('patient', configuration));
  });

  it('has them passed on as they are, in pieces, and their memory given back', async () => {
    const records = rowsOf(100, 20_000);
    provider.answer('/items', json({ records }));
    for (let times = 0; times < 8; times++) {
      const response = await service.call('/items', { token });
      expect(response.body).to.deep.equal(records);
      expect(response.headers.get('content-length')).to.equal(null);
      expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    }
  });

  it('gets OVERLOADED where they take more than the half that one account may have', async () => {
    const message =
      "The service has no memory left for the provider's response at the moment. Try again later, or request less: fewer fields, a smaller pageSize, a narrower filter.";
    const large = JSON.stringify({ records: rowsOf(100, 60_000) });
    for (const [path, body] of [
      ['/items', large],
      ['/items', JSON.stringify({ records: '[]'.repeat(5_000_000) })],
      ['/items/1', large],
    ] as const) {
      provider.answer(path, status(200, { 'content-type': 'application/json' }, body));
      const refused = await service.call(path, { token });
      expectProblem(refused, 'OVERLOADED', message);
      expect(refused.headers.get('retry-after')).to.equal('2');
    }
    provider.answer('/items', json({ records: [{ id: 1, name: 'one' }] }));
    expect(await service.get('/items', { token })).to.deep.equal([{ id: 1, name: 'one' }]);
  });

  it('gets PROVIDER_PROTOCOL where they are nested deeper than anybody can walk', async () => {
    const nested = '['.repeat(5_000) + ']'.repeat(5_000);
    const body = (text: string) => status(200, { 'content-type': 'application/json' }, text);
    const message = 'The provider returned JSON that is nested deeper than 200 levels.';
    provider.answer('/items', body(`{"records":[{"id":1,"name":${nested}}]}`));
    expectProblem(await service.call('/items', { token }), 'PROVIDER_PROTOCOL', message);
    provider.answer('/items/1', body(`{"id":1,"name":${nested}}`));
    expectProblem(await service.call('/items/1', { token }), 'PROVIDER_PROTOCOL', message);
  });
});

describe('a provider whose numbers cannot be', () => {
  const service = useApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS, SIMULATORS_PORT: 'off' });
  const provider = useMisbehavingServer();
  let token: string;
  before(async () => {
    provider.answer('/me', json({}));
    const configuration = { 'base.url': provider.url, 'api.key': 'key of the provider' };
    ({ token } = await service.createInstance('patient', configuration));
  });

  for (const total of [-1, 1.5, 1e30, '12', null]) {
    it(`has a total of ${JSON.stringify(total)} left out`, async () => {
      provider.answer('/items', json({ records: [{ id: 1, name: 'one' }], total }));
      const response = await service.call('/items', { token });
      expect([response.status, response.headers.get('elements-total-count')]).to.deep.equal([200, null]);
    });
  }

  for (const retryAfter of ['9'.repeat(400), '4000000000', 'Fri, 31 Dec 9999 23:59:59 GMT']) {
    it(`is waited for a day at most when it says ${retryAfter.slice(0, 40)}`, async () => {
      provider.answer('/items', json({}, 429, { 'retry-after': retryAfter }));
      const response = await service.call('/items', { token });
      const message = 'Patient returned 429: it accepts no more requests for now. Try again in 86400 s.';
      expectProblem(response, 'PROVIDER_RATE_LIMITED', message);
      expect(response.headers.get('retry-after')).to.equal('86400');
    });
  }

  for (const retryAfter of ['1e30', '-5', 'Infinity', 'NaN', 'soon']) {
    it(`is not believed that it takes calls again after ${retryAfter}`, async () => {
      provider.answer('/items', json({}, 429, { 'retry-after': retryAfter }));
      const response = await service.call('/items', { token });
      expect(response.headers.get('retry-after')).to.equal('60');
    });
  }

  it('has only those of its budget shown that can be', async () => {
    const headers = { 'ratelimit-limit': '9'.repeat(400), 'ratelimit-remaining': '7.5', 'ratelimit-reset': '1e999' };
    provider.answer('/items', json({ records: [] }, 200, headers));
    const response = await service.call('/items', { token });
    const shown = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) =>
      response.headers.get(name),
    );
    expect([response.status, ...shown]).to.deep.equal([200, null, '7', null]);
  });

  it('is called 200 times for an answer at most', async () => {
    const call = (times: number) =>
      service.call('/items', { token, headers: { 'Elements-Max-Provider-Calls': String(times) } });
    provider.answer('/items', json({ records: [] }));
    expect((await call(200)).status).to.equal(200);
    expectProblem(await call(201), 'REQUEST_INVALID', /^headers\.elements-max-provider-calls must be <= 200/);
  });
});
