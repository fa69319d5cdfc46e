import { expect } from 'chai';
import { QUEUED, setPolicy, waitForDeliveries } from '../api/events/receiving.ts';
import { expectProblem } from '../api/support/expect-problem.ts';
import { authorizationOf, createTenants } from '../api/support/tenants.ts';
import { until } from '../support/until.ts';
import { useThings } from './things.ts';

describe('polls through the API', () => {
  const bench = useThings();

  const post = (path: string, body?: unknown, headers = {}) =>
    bench.service.call(path, { method: 'POST', ...(body !== undefined && { body }), headers });

  it('are shown with what they did', async () => {
    const { id } = await bench.create('/shown');
    expect(await bench.poll(id)).to.include({
      resource: 'things',
      state: 'waiting',
      method: 'window',
      intervalSeconds: 36_000,
      failures: 0,
      runs: 1,
      emptyRuns: 1,
      events: 0,
      lagSeconds: 0,
    });
    bench.provider.add('shown-1');
    expect(await bench.run(id)).to.include({ runs: 2, emptyRuns: 1, events: 1 });
  });

  it('are listed by what their record says, and page by page', async () => {
    const { id } = await bench.create('/listed');
    const list = async (query: Readonly<Record<string, string | number>>) =>
      (await bench.service.call(`/instances/${id}/polls`, { query })).body.map(
        ({ resource }: { readonly resource: string }) => resource,
      );
    const before = new Date(Date.now() + 60_000).toISOString();
    expect(await list({ where: `state = 'waiting' AND failures = 0 AND createdDate < ${before}` })).to.eql(['things']);
    expect(await list({ where: "state = 'stopped' OR lastRunDate IS NULL" })).to.eql([]);
    expect(await list({ pageSize: 1 })).to.eql(['things']);
    expectProblem(await bench.service.call(`/instances/${id}/polls?where=stat='x'`), 'WHERE_INVALID');
  });

  it('make events again from a time on', async () => {
    bench.provider.add('replay-1');
    bench.provider.add('replay-2', { updatedAt: '2020-01-01T00:00:00.000Z', createdAt: '2020-01-01T00:00:00.000Z' });
    const { id } = await bench.create('/replay');
    const { runs } = await bench.poll(id);
    const from = new Date(Date.now() - 60_000).toISOString();
    const response = await post(`/instances/${id}/polls/things/replay`, { from });
    expect(response.body).to.include({ resource: 'things', watermark: from });
    await until(() => bench.received('/replay').some(([, thing]) => thing === 'replay-1'));
    const arrived = bench.received('/replay');
    expect(arrived).to.deep.include(['things.created', 'replay-1']);
    expect(arrived.map(([, thing]) => thing)).not.to.include('replay-2');
    expect((await bench.run(id)).runs).to.be.greaterThan(runs);
  });

  it('are not there under another name, or of an instance that is not there', async () => {
    const { id } = await bench.create('/none');
    const from = '2020-01-01T00:00:00Z';
    for (const [action, body] of [
      ['run', undefined],
      ['replay', { from }],
    ] as const) {
      const message = `Instance ${id} has no poll 'thinks'; GET /instances/${id}/polls lists them.`;
      expectProblem(await post(`/instances/${id}/polls/thinks/${action}`, body), 'NOT_FOUND', message);
      expectProblem(await post(`/instances/999999/polls/things/${action}`, body), 'NOT_FOUND');
    }
    expectProblem(await bench.service.call('/instances/999999/polls'), 'NOT_FOUND');
  });

  it('are never set on: what lies between would not be told of', async () => {
    const { id } = await bench.create('/set-on');
    const { watermark } = await bench.poll(id);
    const future = new Date(Date.now() + 3_600_000).toISOString();
    expectProblem(
      await post(`/instances/${id}/polls/things/replay`, { from: future }),
      'REQUEST_INVALID',
      "'from' must not be in the future.",
    );
    bench.provider.add('set-on-1', { updatedAt: new Date(Date.parse(watermark) + 1).toISOString() });
    await post(`/instances/${id}/polls/things/replay`, { from: new Date().toISOString() });
    await until(() => bench.received('/set-on').some(([, thing]) => thing === 'set-on-1'));
  });

  it('want a time to replay from', async () => {
    const { id } = await bench.create('/bad');
    for (const body of [
      {},
      { from: 'yesterday' },
      { from: '2030-02-30' },
      { from: 7 },
      { since: '2030-01-01T00:00:00Z' },
    ])
      expectProblem(await post(`/instances/${id}/polls/things/replay`, body), 'REQUEST_INVALID');
    expect(await bench.poll(id)).to.include({ runs: 1 });
  });

  it('are their account’s alone', async () => {
    const { sibling, stranger, colleague } = await createTenants(bench.service);
    const { id } = await bench.create('/private');
    for (const tenant of [sibling, stranger]) {
      const headers = authorizationOf(tenant);
      expectProblem(await bench.service.call(`/instances/${id}/polls`, { headers }), 'NOT_FOUND');
      expectProblem(await post(`/instances/${id}/polls/things/run`, undefined, headers), 'NOT_FOUND');
      const from = '2020-01-01T00:00:00Z';
      expectProblem(await post(`/instances/${id}/polls/things/replay`, { from }, headers), 'NOT_FOUND');
    }
    const { status } = await bench.service.call(`/instances/${id}/polls`, { headers: authorizationOf(colleague) });
    expect(status).to.equal(200);
    expect(await bench.poll(id)).to.include({ runs: 1, events: 0 });
  });

  it('have their events delivered in order where the instance wants it', async () => {
    const { id } = await bench.create('/ordered', { 'event.notification.ordered': true });
    const things = Array.from({ length: 12 }, (_, index) => `ordered-${index}`);
    const nowMs = Date.now();
    for (const [index, thing] of things.toReversed().entries())
      bench.provider.add(thing, { updatedAt: new Date(nowMs + things.length - index).toISOString() });
    await bench.run(id);
    expect((await bench.arrived('/ordered', things.length)).map(([, thing]) => thing)).to.deep.equal(things);
  });

  it('have their events queued under that policy', async () => {
    const { id } = await bench.create('/queued');
    await setPolicy(bench.service, 'queue');
    try {
      bench.provider.add('queued-1');
      await bench.run(id);
      const where = `${QUEUED} AND config.url = '${bench.receiver.url}/queued'`;
      const [delivery] = await waitForDeliveries(bench.service, where, 1);
      expect(delivery.event.data).to.include({ objectName: 'things', objectId: 'queued-1' });
      expect(bench.received('/queued')).to.deep.equal([]);
    } finally {
      await setPolicy(bench.service, 'retry');
    }
  });

  it('are measured', async () => {
    const { id } = await bench.create('/measured');
    bench.provider.add('measured-1');
    await bench.run(id);
    const text = await (await fetch(new URL('/metrics', bench.service.app.url))).text();
    const numberOf = (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(name))
          ?.split(' ')
          .at(-1),
      );
    for (const name of [
      ...['causeway_polls_total{outcome="events"}', 'causeway_polls_total{outcome="empty"}'],
      ...['causeway_poll_events_total', 'causeway_poll_provider_calls_total', 'causeway_poll_lag_seconds_count'],
    ])
      expect(numberOf(name), name).to.be.greaterThan(0);
    expect(numberOf('causeway_work_oldest_due_seconds{kind="polls"}')).to.equal(0);
  });
});
