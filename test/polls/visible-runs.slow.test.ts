import { expect } from 'chai';
import { type StartedApp, startTestApp, useApp } from '../support/app.ts';
import { json, type MisbehavingServer, startMisbehavingServer, status } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import {
  createPolled,
  runNow,
  type Service,
  startThingsProvider,
  THINGS,
  type ThingsProvider,
  untilRun,
  useThings,
} from './things.ts';

const FAILING = Array.from({ length: 100 }, () => status(500));

/** Of an instance, from old to new. */
async function noticesOf({ call }: Pick<Service, 'call'>, instanceId: number, type: string) {
  const { body } = await call('/notifications', { query: { where: `type = '${type}'` } });
  return body.filter(({ data }: { data: { instanceId: number } }) => data.instanceId === instanceId);
}

describe('runs of polls', () => {
  const bench = useThings({ recorderOptions: { flushMs: 20 } });

  /** From new to old, when there are so many. */
  async function runsOf(id: number, count: number, path = `/instances/${id}/activity`) {
    const query = { kind: 'poll', where: `instanceId = ${id}` };
    await until(async () => (await bench.service.call(path, { query })).body.length >= count);
    return (await bench.service.call(path, { query })).body;
  }

  const countOf = async (id: number, type: string) => (await noticesOf(bench.service, id, type)).length;
  const arrived = (at: string, type: string) => bench.received(at).filter(([one]) => one === type).length;

  it('that fail are in the activity, with the calls of the provider and the reason', async () => {
    const { id } = await bench.create('/activity');
    bench.provider.answerNext(...FAILING);
    await bench.run(id);
    bench.provider.answerNext();
    const [run, ...others] = await runsOf(id, 1);
    expect(others).to.deep.equal([]);
    const { requestId, timestamp, durationMs, reason, providerCalls, ...rest } = run;
    expect(rest).to.deep.equal({
      kind: 'poll',
      accountId: bench.service.accountId,
      instanceId: id,
      elementKey: 'things',
      method: 'POLL',
      path: `/elements/api-v2/instances/${id}/polls/things`,
      status: 502,
      code: 'PROVIDER_UNAVAILABLE',
      events: 0,
    });
    expect(reason).to.equal('Things returned 500: it cannot serve the request at the moment. Try again later.');
    expect(providerCalls.map((call: Record<string, unknown>) => [call.method, call.path, call.status])).to.deep.equal([
      ['GET', '/things', 500],
    ]);
    expect(Date.parse(timestamp)).to.be.closeTo(Date.now(), 60_000);
    const { lastError } = (await bench.service.call(`/instances/${id}`)).body;
    expect(lastError).to.include({ requestId, status: 502, code: 'PROVIDER_UNAVAILABLE' });
    const found = await bench.service.call(`/activity/${requestId}`);
    expect(found.body).to.deep.equal(run);
    expect((await bench.service.call(`/usage/${requestId}`)).status).to.equal(404);
    const lines = bench.service.logged.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId);
    expect(lines.filter(({ level }) => level === 'warn')).to.have.length(1);
    expect(durationMs).to.be.above(0);
  });

  it('say which member of the answer is missing, also at the poller', async () => {
    const { id } = await bench.create('/lacking');
    bench.provider.answerNext(json({ rows: [] }));
    const failed = await bench.run(id);
    const words = 'Causeway does not understand the response of Things. The response lacks records.';
    expect(failed.lastError).to.equal(`PROVIDER_PROTOCOL: ${words}`);
    const [run] = await runsOf(id, 1);
    expect(run).to.include({ status: 502, code: 'PROVIDER_PROTOCOL', reason: words });
  });

  it('that find something are there, those that find nothing are only counted, and requests are apart', async () => {
    const { id } = await bench.create('/found');
    expect(await bench.run(id)).to.include({ runs: 2, emptyRuns: 2 });
    bench.provider.add('found-1');
    await bench.run(id);
    const runs = await runsOf(id, 1);
    expect(runs.map((run: Record<string, unknown>) => [run.status, run.events])).to.deep.equal([[200, 1]]);
    expect(await runsOf(id, 1, '/activity')).to.deep.equal(runs);
    const list = async (kind: string) =>
      (await bench.service.call(`/instances/${id}/activity`, { query: { kind, pageSize: 200 } })).body;
    const requests = await list('request');
    expect(requests.length).to.be.above(0);
    for (const request of requests) expect(request).not.to.have.property('kind');
    const all = await list('all');
    expect(all.filter((row: { kind?: string }) => row.kind === 'poll')).to.deep.equal(runs);
    expect(all.length).to.be.above(requests.length);
    expect((await bench.service.call(`/instances/${id}/activity`)).body.map(({ kind }: { kind?: string }) => kind))
      .to.include(undefined)
      .and.not.to.include('poll');
  });

  it('keep headers and bodies while trace logging is on, without secrets', async () => {
    const { id } = await bench.create('/traced');
    await bench.service.call(`/instances/${id}/trace-logging`, { method: 'PUT' });
    bench.provider.answerNext(status(500, { 'content-type': 'application/json' }, '{"message":"No."}'));
    await bench.run(id);
    const [{ requestId }] = await runsOf(id, 1);
    const { body } = await bench.service.call(`/activity/${requestId}`);
    expect(body.providerCalls[0]).to.include({ responseBody: '{"message":"No."}' });
    expect(body.providerCalls[0].requestHeaders['x-api-key']).to.equal('[redacted]');
  });

  it('tell once that a poll fails, after the third failure in a row, and once that it works again', async () => {
    const at = '/told';
    const { id } = await bench.create(at);
    bench.provider.answerNext(...FAILING);
    await bench.run(id);
    await bench.run(id);
    expect(await countOf(id, 'poll.failing')).to.equal(0);
    for (let more = 0; more < 3; more++) await bench.run(id);
    bench.provider.answerNext();
    const [notice, ...others] = await noticesOf(bench.service, id, 'poll.failing');
    expect(others).to.deep.equal([]);
    const place = { instanceId: id, name: notice.data.name, elementKey: 'things', resource: 'things' };
    expect(notice.data).to.deep.equal({
      ...place,
      failures: 3,
      code: 'PROVIDER_UNAVAILABLE',
      message: 'Things returned 500: it cannot serve the request at the moment. Try again later.',
    });
    expect(await countOf(id, 'poll.recovered')).to.equal(0);
    await bench.run(id);
    await bench.run(id);
    const recovered = await noticesOf(bench.service, id, 'poll.recovered');
    expect(recovered).to.have.length(1);
    const { failingSince, ...data } = recovered[0].data;
    expect(data).to.deep.equal({ ...place, failures: 5 });
    expect(Date.parse(failingSince)).to.be.closeTo(Date.now(), 60_000);
    await until(() => arrived(at, 'poll.recovered') === 1);
    expect(arrived(at, 'poll.failing')).to.equal(1);
    const { body: events } = await bench.service.call(`/instances/${id}/events`);
    expect(events.map(({ type }: { type: string }) => type)).to.deep.equal(['poll.recovered', 'poll.failing']);
  });

  it('tell the operational callback URL too, and one URL that is both once', async () => {
    const put = (url: string | null) =>
      bench.service.call('/accounts/settings', {
        method: 'PATCH',
        body: { 'notification.operational.callback.url': url },
      });
    try {
      for (const [at, operational] of [
        ['/apart', '/operational'],
        ['/same', '/same'],
      ] as const) {
        expect((await put(bench.receiver.url + operational)).status).to.equal(200);
        const { id } = await bench.create(at);
        bench.provider.answerNext(...FAILING);
        for (let failures = 0; failures < 3; failures++) await bench.run(id);
        bench.provider.answerNext();
        await bench.run(id);
        // Behind what fails, so that whatever is sent is there by then.
        await until(() => arrived(at, 'poll.recovered') > 0 && arrived(operational, 'poll.recovered') > 0);
        expect([arrived(at, 'poll.failing'), arrived(operational, 'poll.failing')]).to.deep.equal([1, 1]);
      }
    } finally {
      await put(null);
    }
  });
});

describe('runs of bulk jobs', () => {
  const bench = useThings({ recorderOptions: { flushMs: 20 } });

  it('are in the activity with their rows, and failed ones with calls and reason', async () => {
    const { id, token } = await bench.create('/bulk');
    bench.provider.add('bulk-1');
    bench.provider.add('bulk-2');
    const download = async () => {
      const { body } = await bench.service.call('/bulk/query', {
        method: 'POST',
        token,
        body: { objectName: 'things' },
      });
      await until(async () => {
        const { body: job } = await bench.service.call(`/bulk/${body.id}/status`, { token });
        return job.status !== 'CREATED' && job.status !== 'RUNNING';
      });
      const path = `/elements/api-v2/bulk/${body.id}/status`;
      const query = { kind: 'bulk', where: `path = '${path}'` };
      const list = async () => (await bench.service.call(`/instances/${id}/activity`, { query })).body;
      await until(async () => (await list()).length > 0);
      return { path, runs: await list() };
    };
    const done = await download();
    expect(done.runs).to.have.length(1);
    const { providerCalls, ...run } = done.runs[0];
    expect(run).to.include({
      kind: 'bulk',
      method: 'BULK',
      path: done.path,
      userId: bench.service.userId,
      elementKey: 'things',
      status: 200,
      rows: 2,
    });
    expect(providerCalls.map(({ path, status }: { path: string; status: number }) => [path, status])).to.deep.equal([
      ['/things', 200],
    ]);
    // Its provider will not do it: it is not tried again.
    bench.provider.answerNext(...Array.from({ length: 10 }, () => status(422)));
    const failed = await download();
    bench.provider.answerNext();
    expect(failed.runs[0]).to.include({ status: 422, code: 'PROVIDER_REJECTED', rows: 0 });
    expect(failed.runs[0].reason).to.match(/^Things returned 422: /);
    expect(failed.runs[0].providerCalls[0]).to.include({ status: 422 });
  });
});

describe('a poll that fails in several processes', function severalProcesses() {
  this.timeout(60_000);
  const api = useApp({ ROLE: 'api', SIMULATORS_PORT: 'off' }, { connectors: [THINGS] });
  let workers: readonly StartedApp[] = [];
  let provider: ThingsProvider;
  let receiver: MisbehavingServer;

  before(async () => {
    [provider, receiver] = await Promise.all([
      startThingsProvider(),
      startMisbehavingServer({ otherwise: status(204) }),
    ]);
  });
  after(async () => {
    await stopWorkers();
    await Promise.all([provider.close(), receiver.close()]);
  });

  async function startWorkers(): Promise<void> {
    const environment = { DATABASE_URL: api.databaseUrl, ROLE: 'worker', SIMULATORS_PORT: 'off' };
    const overrides = { connectors: [THINGS], pollerOptions: { lookMs: 50 }, recorderOptions: { flushMs: 20 } };
    workers = await Promise.all([startTestApp(environment, overrides), startTestApp(environment, overrides)]);
  }

  async function stopWorkers(): Promise<void> {
    await Promise.all(workers.map(({ stop }) => stop()));
    workers = [];
  }

  it('is told of once, also over a restart, and so is that it works again', async () => {
    await startWorkers();
    const { id } = await createPolled(api, { provider, url: `${receiver.url}/several` });
    await untilRun(api, id);
    provider.answerNext(...FAILING);
    await runNow(api, id);
    await runNow(api, id);
    await stopWorkers();
    await startWorkers();
    await runNow(api, id);
    await runNow(api, id);
    await stopWorkers();
    await startWorkers();
    await runNow(api, id);
    provider.answerNext();
    await runNow(api, id);
    await runNow(api, id);
    expect(await noticesOf(api, id, 'poll.failing')).to.have.length(1);
    expect(await noticesOf(api, id, 'poll.recovered')).to.have.length(1);
    const query = { kind: 'poll' };
    await until(async () => (await api.call(`/instances/${id}/activity`, { query })).body.length >= 5);
    const { body: runs } = await api.call(`/instances/${id}/activity`, { query });
    expect(runs.map(({ status }: { status: number }) => status)).to.deep.equal([502, 502, 502, 502, 502]);
  });
});
