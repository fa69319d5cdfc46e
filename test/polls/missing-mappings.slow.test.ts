import { expect } from 'chai';
import { type ApiAnswer, startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { createPolled, pollOf, type Service, THINGS, untilRun, useThings } from './things.ts';

const CONFIGURATION = [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }];
const DEFINED = [
  { path: 'key', type: 'string' },
  { path: 'title', type: 'string' },
  { path: 'born', type: 'date' },
  { path: 'changed', type: 'date' },
];
const UNDATED = [
  { path: 'key', vendorPath: 'id' },
  { path: 'title', vendorPath: 'name' },
];
const DATED = [...UNDATED, { path: 'born', vendorPath: 'createdAt' }, { path: 'changed', vendorPath: 'updatedAt' }];
const MISSING =
  "NOT_FOUND: Nothing maps 'gadgets' on this instance any more, so the poll is stopped. It resumes from its watermark when a definition and a transformation of 'gadgets' are in force again.";
/** Longer than a poller takes to see that something is due. */
const A_WHILE_MS = 500;

describe('a poll whose mapping is deleted', () => {
  const bench = useThings({ pollerOptions: { lookMs: 50 } });

  async function ask(
    path: string,
    method: string,
    body?: object,
    service: Service = bench.service,
  ): Promise<ApiAnswer['body']> {
    const answer = await service.call(path, { method, ...(body !== undefined && { body }) });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  }
  const define = (name: string, service?: Service) =>
    ask('/common-resources', 'PUT', { name, fields: DEFINED }, service);
  const elementPath = (name: string) => `/organizations/elements/things/transformations/${name}`;
  const map = (objectName: string, fields: readonly object[] = DATED, service?: Service) => {
    const at = { objectName, level: 'organization', elementKey: 'things' };
    return ask(
      '/transformations',
      'PUT',
      { ...at, vendorName: 'things', fields, configuration: CONFIGURATION },
      service,
    );
  };
  const unmap = (name: string, service?: Service) => ask(elementPath(name), 'DELETE', undefined, service);
  /** Types and ids of the events of records, in no order. */
  const recordsAt = (at: string) =>
    bench
      .received(at)
      .filter(([type]) => !type.startsWith('poll.'))
      .map((event) => event.join(' '))
      .toSorted();
  const noticesAt = (at: string) =>
    bench
      .received(at)
      .map(([type]) => type)
      .filter((type) => type.startsWith('poll.'));
  const stopped = (id: number, resource = 'gadgets') =>
    until(async () => (await bench.poll(id, resource)).state === 'stopped');
  /** An instance whose poll is stopped, because its mapping was deleted. */
  async function createStopped(at: string) {
    const { id } = await bench.create(at, { 'event.objects': 'gadgets' });
    await unmap('gadgets');
    await bench.run(id, 'gadgets');
    await stopped(id);
    return { id, runs: Number((await bench.poll(id, 'gadgets')).runs) };
  }
  /** Nothing happens meanwhile: it is the absence that is waited for. */
  const aWhile = () => new Promise((done) => setTimeout(done, A_WHILE_MS));

  beforeEach(async () => {
    await define('gadgets');
    await map('gadgets');
  });

  for (const [method, fields, at] of [
    ['window', DATED, '/window'],
    ['snapshot', UNDATED, '/snapshot'],
  ] as const) {
    it(`stops and says why, and makes exactly the changes in between events when it is back, as a ${method}`, async () => {
      await map('gadgets', fields);
      const of = (name: string) => `${method}-${name}`;
      for (const name of ['same', 'changed']) bench.provider.add(of(name));
      const { id } = await bench.create(at, { 'event.objects': 'gadgets' });
      expect(await bench.poll(id, 'gadgets')).to.include({ method, state: 'waiting', runs: 1 });
      await unmap('gadgets');
      bench.provider.change(of('changed'), { name: 'Another name' });
      bench.provider.add(of('new'));
      const { runs, watermark } = await bench.poll(id, 'gadgets');
      const calls = bench.provider.requested.length;
      await bench.run(id, 'gadgets');
      await stopped(id);
      const poll = await bench.poll(id, 'gadgets');
      expect(poll).to.include({ lastError: MISSING, failures: 1, runs: runs + 1, watermark });
      expect(poll).to.not.have.any.keys('nextRunDate', 'lagSeconds');
      const asked = await bench.service.call(`/instances/${id}/polls/gadgets/run`, { method: 'POST' });
      expect([asked.status, asked.body.message]).to.deep.equal([
        409,
        `The poll 'gadgets' of instance ${id} is stopped: nothing maps 'gadgets' on this instance any more.`,
      ]);
      await aWhile();
      expect(await bench.poll(id, 'gadgets')).to.include({ runs: runs + 1, state: 'stopped' });
      expect(bench.provider.requested).to.have.length(calls);
      bench.provider.add(of('late'));

      await map('gadgets', fields);
      await untilRun(bench.service, id, { runs: runs + 2, resource: 'gadgets' });
      const back = await bench.poll(id, 'gadgets');
      expect(back).to.include({ state: 'waiting', failures: 0 }).and.not.to.have.property('lastError');
      await bench.run(id, 'gadgets');
      const expected = [
        `gadgets.created ${of('late')}`,
        `gadgets.created ${of('new')}`,
        `gadgets.updated ${of('changed')}`,
      ];
      await until(() => recordsAt(at).length >= expected.length && noticesAt(at).length >= 2);
      await aWhile();
      expect(recordsAt(at)).to.deep.equal(expected);
      expect(noticesAt(at)).to.have.members(['poll.failing', 'poll.recovered']);
    });
  }

  it('stops with its definition, and other changes of mappings do not run it', async () => {
    const { id } = await bench.create('/definition', { 'event.objects': 'gadgets' });
    await ask('/common-resources/gadgets?force=true', 'DELETE');
    await bench.run(id, 'gadgets');
    await stopped(id);
    const { runs } = await bench.poll(id, 'gadgets');
    await define('gadgets');
    await define('others');
    await map('others');
    await aWhile();
    expect(await bench.poll(id, 'gadgets')).to.include({ runs, state: 'stopped' });
    await map('gadgets');
    await untilRun(bench.service, id, { runs: runs + 1, resource: 'gadgets' });
    expect(await bench.poll(id, 'gadgets')).to.include({ state: 'waiting', failures: 0 });
  });

  it('does not read the object of the provider that has the same name', async () => {
    await define('notes');
    await map('notes');
    const { id } = await bench.create('/same-name', { 'event.objects': 'notes', 'api.key': 'same-name' });
    await unmap('notes');
    await bench.run(id, 'notes');
    await stopped(id, 'notes');
    const objects = bench.provider.requested.filter(({ key }) => key === 'same-name').map(({ object }) => object);
    expect([...new Set(objects)]).to.deep.equal(['things']);
    await ask('/organizations/objects/notes/definitions', 'DELETE');
    // Named anew, it is the provider's.
    await ask(`/instances/${id}`, 'PATCH', { configuration: { 'event.objects': 'things' } });
    await until(async () => (await bench.poll(id, 'notes')) === undefined);
    await ask(`/instances/${id}`, 'PATCH', { configuration: { 'event.objects': 'notes' } });
    await until(async () => (await bench.poll(id, 'notes'))?.runs === 1);
    expect(await bench.poll(id, 'notes')).to.include({ state: 'waiting', method: 'snapshot' });
  });

  it('looks again when its configuration changes', async () => {
    const { id, runs } = await createStopped('/configured');
    const url = "/things?where=updatedAt>='${gmtDate:yyyy-MM-dd'T'HH:mm:ss'Z'}'";
    await ask(`/instances/${id}`, 'PATCH', {
      configuration: { 'event.objects': null, 'event.poller.configuration': { gadgets: { url } } },
    });
    await untilRun(bench.service, id, { runs: runs + 1, resource: 'gadgets' });
    expect(await bench.poll(id, 'gadgets')).to.include({ state: 'waiting', failures: 0 });
  });

  it('looks again when its configuration changes while its instance is disabled', async () => {
    const { id, runs } = await createStopped('/configured-later');
    await ask(`/instances/${id}/enabled`, 'DELETE');
    await ask(`/instances/${id}`, 'PATCH', { configuration: { 'event.poller.refresh_interval': 500 } });
    await until(async () => (await bench.poll(id, 'gadgets')).intervalSeconds === 30_000);
    await ask(`/instances/${id}/enabled`, 'PUT');
    await untilRun(bench.service, id, { runs: runs + 1, resource: 'gadgets' });
    expect(await bench.poll(id, 'gadgets')).to.include({ state: 'stopped', lastError: MISSING, failures: 2 });
  });

  it('stays stopped when its instance is disabled and enabled, until both are back', async () => {
    const { id, runs } = await createStopped('/both-ways');
    await ask(`/instances/${id}/enabled`, 'DELETE');
    await ask(`/instances/${id}/enabled`, 'PUT');
    await aWhile();
    expect(await bench.poll(id, 'gadgets')).to.include({ state: 'stopped', runs });
    await ask(`/instances/${id}/enabled`, 'DELETE');
    await map('gadgets');
    await aWhile();
    expect(await bench.poll(id, 'gadgets')).to.include({ state: 'stopped', runs });
    await ask(`/instances/${id}/enabled`, 'PUT');
    await untilRun(bench.service, id, { runs: runs + 1, resource: 'gadgets' });
  });

  it('resumes when a process begins to poll that was not there when the mapping came back', async () => {
    const worker = await startTestApp({ SIMULATORS_PORT: 'off' }, { connectors: [THINGS] });
    const environment = { DATABASE_URL: worker.databaseUrl, SIMULATORS_PORT: 'off' };
    await define('gadgets', worker);
    await map('gadgets', DATED, worker);
    const input = {
      provider: bench.provider,
      url: `${bench.receiver.url}/restart`,
      more: { 'event.objects': 'gadgets' },
    };
    const { id } = await createPolled(worker, input);
    await until(async () => (await pollOf(worker, id, 'gadgets'))?.runs === 1);
    await unmap('gadgets', worker);
    await ask(`/instances/${id}/polls/gadgets/run`, 'POST', undefined, worker);
    await until(async () => (await pollOf(worker, id, 'gadgets')).state === 'stopped');
    await worker.stop();
    const api = await startTestApp({ ...environment, ROLE: 'api' }, { connectors: [THINGS] });
    await map('gadgets', DATED, api);
    expect(await pollOf(api, id, 'gadgets')).to.include({ state: 'stopped' });
    const next = await startTestApp(environment, { connectors: [THINGS] });
    try {
      await untilRun(api, id, { runs: 3, resource: 'gadgets' });
      expect(await pollOf(api, id, 'gadgets')).to.include({ state: 'waiting', failures: 0 });
    } finally {
      await api.stop();
      await next.stop();
    }
  });
});
