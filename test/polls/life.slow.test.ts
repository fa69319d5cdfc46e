import { expect } from 'chai';
import { startTestApp } from '../support/app.ts';
import { createTestDatabase } from '../support/database.ts';
import { hang } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { createPolled, pollOf, pollsOf, THINGS, untilRun, useThings } from './things.ts';

describe('the life of a poll', () => {
  const bench = useThings({ pollerOptions: { lookMs: 50 } });

  const patch = (id: number, configuration: object) =>
    bench.service.call(`/instances/${id}`, { method: 'PATCH', body: { configuration } });
  const stateOf = async (id: number) => (await bench.poll(id))?.state;

  it('stops with its instance, and goes on where it was', async () => {
    bench.provider.add('life-1');
    const { id } = await bench.create('/disabled');
    const { watermark } = await bench.poll(id);
    await bench.service.call(`/instances/${id}/enabled`, { method: 'DELETE' });
    await until(async () => (await stateOf(id)) === 'stopped');
    const run = await bench.service.call(`/instances/${id}/polls/things/run`, { method: 'POST' });
    expect([run.status, run.body.message]).to.deep.equal([
      409,
      `The poll 'things' of instance ${id} is stopped: the instance is disabled or not valid.`,
    ]);
    bench.provider.change('life-1');
    expect(await bench.poll(id)).to.include({ watermark, runs: 1, state: 'stopped' });
    await bench.service.call(`/instances/${id}/enabled`, { method: 'PUT' });
    await untilRun(bench.service, id, { runs: 2 });
    expect(await bench.arrived('/disabled', 1)).to.deep.equal([['things.updated', 'life-1']]);
  });

  it('stops while its credentials are refused, and comes back with good ones', async () => {
    bench.provider.add('life-2');
    const { id } = await bench.create('/refused', { 'api.key': 'stale' });
    bench.provider.refuse('stale');
    const failed = await bench.run(id);
    expect(failed.lastError).to.match(/^INSTANCE_CREDENTIALS_FAILED: /);
    await until(async () => (await stateOf(id)) === 'stopped');
    expect((await bench.service.call(`/instances/${id}`)).body.valid).to.equal(false);
    bench.provider.change('life-2');
    await patch(id, { 'api.key': 'fresh' });
    await untilRun(bench.service, id, { runs: 3 });
    expect(await bench.arrived('/refused', 1)).to.deep.equal([['things.updated', 'life-2']]);
    expect(await bench.poll(id))
      .to.include({ failures: 0, state: 'waiting' })
      .and.not.to.have.property('lastError');
  });

  it('ends with its instance', async () => {
    const { id } = await bench.create('/deleted', { 'api.key': 'deleted' });
    expect((await bench.service.call(`/instances/${id}`, { method: 'DELETE' })).status).to.equal(200);
    const { status } = await bench.service.call(`/instances/${id}/polls`);
    expect(status).to.equal(404);
  });

  it('ends when its configuration does not name it any more; one that stays keeps how far it is', async () => {
    bench.provider.add('life-3');
    const { id } = await bench.create('/changed', { 'event.objects': 'things,notes' });
    const { watermark, createdDate } = await bench.poll(id);
    bench.provider.change('life-3');
    await patch(id, { 'event.objects': 'things,mortals', 'event.poller.refresh_interval': 500 });
    await until(async () => (await bench.poll(id, 'mortals'))?.runs === 1);
    const polls = await pollsOf(bench.service, id);
    expect(polls.map(({ resource }: { resource: string }) => resource)).to.deep.equal(['mortals', 'things']);
    // A new interval begins at once.
    const things = await untilRun(bench.service, id, { runs: 2 });
    expect(things).to.include({ createdDate, intervalSeconds: 30_000 });
    expect(things.watermark > watermark).to.equal(true);
    expect(await bench.arrived('/changed', 1)).to.deep.include(['things.updated', 'life-3']);
  });

  it('ends with events, and begins anew with them', async () => {
    const { id } = await bench.create('/off');
    await patch(id, { 'event.notification.enabled': false });
    await until(async () => (await pollsOf(bench.service, id)).length === 0);
    await patch(id, { 'event.notification.enabled': true });
    await until(async () => (await bench.poll(id))?.runs === 1);
    expect(await bench.poll(id)).to.include({ events: 0 });
  });

  it('is one at a time over two processes, which make each event once', async () => {
    const { databaseUrl, app } = bench.service;
    expect(app.url).to.be.a('string');
    const other = await startTestApp(
      { DATABASE_URL: databaseUrl, SIMULATORS_PORT: 'off' },
      { connectors: [THINGS], pollerOptions: { lookMs: 20 } },
    );
    try {
      const input = { provider: bench.provider, url: `${bench.receiver.url}/both` };
      const made = await Promise.all(Array.from({ length: 8 }, () => createPolled(other, input)));
      const ids: readonly number[] = made.map(({ id }) => id);
      for (const id of ids) await until(async () => (await bench.poll(id))?.runs >= 1);
      for (let round = 1; round <= 3; round++) {
        bench.provider.add(`both-${round}`);
        const runs = await Promise.all(ids.map(async (id) => (await bench.poll(id)).runs));
        const askAll = (service: typeof other | typeof bench.service) =>
          ids.map((id) => service.call(`/instances/${id}/polls/things/run`, { method: 'POST' }));
        await Promise.all([...askAll(other), ...askAll(bench.service)]);
        for (const [index, id] of ids.entries()) await untilRun(bench.service, id, { runs: (runs[index] ?? 0) + 1 });
      }
      const events = await bench.arrived('/both', 3 * ids.length);
      for (let round = 1; round <= 3; round++)
        expect(events.filter(([, thing]) => thing === `both-${round}`)).to.have.length(ids.length);
      expect(events).to.have.length(3 * ids.length);
      expect(bench.provider.mostAtOnce()).to.equal(1);
    } finally {
      await other.stop();
    }
  });

  it('is given back as it was by a process that stops', async () => {
    const databaseUrl = await createTestDatabase();
    const environment = { DATABASE_URL: databaseUrl, SIMULATORS_PORT: 'off' };
    const worker = await startTestApp(environment, { connectors: [THINGS] });
    const { id } = await createPolled(worker, { provider: bench.provider, url: `${bench.receiver.url}/stop` });
    await until(async () => (await pollOf(worker, id))?.runs === 1);
    const before = await untilRun(worker, id);
    bench.provider.answerNext(hang);
    await worker.call(`/instances/${id}/polls/things/run`, { method: 'POST' });
    await until(async () => (await pollOf(worker, id)).state === 'running');
    await worker.stop();
    // It serves the API alone.
    const other = await startTestApp({ ...environment, ROLE: 'api' }, { connectors: [THINGS] });
    try {
      const { lastRunDate, lastSuccessDate, runs } = before;
      expect(await pollOf(other, id)).to.include({ state: 'waiting', lastRunDate, lastSuccessDate, runs, failures: 0 });
    } finally {
      await other.stop();
    }
  });
});
