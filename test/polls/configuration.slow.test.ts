import { expect } from 'chai';
import { expectProblem } from '../api/support/expect-problem.ts';
import { pollsOf, useThings } from './things.ts';

const CONFIGURATION = 'event.poller.configuration';

describe('the configuration of polls', () => {
  const bench = useThings();
  let number = 0;

  /** A polled instance with a receiver of its own, and a name for things of its own. */
  async function create(configuration: object) {
    const name = `c${number++}`;
    const at = `/${name}`;
    const prepared = { thing: `${name}-1`, other: `${name}-2`, at, where: `state = '${name}'` };
    bench.provider.add(prepared.thing, { state: name });
    const { id } = await bench.create(at, configuration);
    return { ...prepared, id, state: name };
  }

  /** Of the last list that was asked for. */
  const lastRequested = () => bench.provider.requested.at(-1);

  /** What is polled is what has this state. */
  const urlOf = (state: string, more = '') =>
    `/things?where=state = '${state}' and updatedAt >= '\${gmtDate:yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}'${more}`;

  const resource = (members: object) => ({ [CONFIGURATION]: { things: { url: urlOf(`c${number}`), ...members } } });

  it('lets the first poll be silent, or tell of everything with a backfill', async () => {
    const silent = await create(resource({}));
    expect(await bench.poll(silent.id)).to.include({ runs: 1, events: 0 });
    const told = await create({ ...resource({}), 'event.poller.backfill': 'true' });
    expect(await bench.arrived(told.at, 1)).to.deep.equal([['things.created', told.thing]]);
    expect(await bench.run(told.id)).to.include({ runs: 2, events: 1 });
  });

  it('says how near to each other the dates of what is new are', async () => {
    const times = () => {
      const now = Date.now();
      return { createdAt: new Date(now - 10_000).toISOString(), updatedAt: new Date(now).toISOString() };
    };
    const strict = await create(resource({}));
    bench.provider.add(strict.other, { state: strict.state, ...times() });
    await bench.run(strict.id);
    expect(await bench.arrived(strict.at, 1)).to.deep.equal([['things.updated', strict.other]]);
    const generous = await create(resource({ createdCheckTolerance: '30' }));
    bench.provider.add(generous.other, { state: generous.state, ...times() });
    await bench.run(generous.id);
    expect(await bench.arrived(generous.at, 1)).to.deep.equal([['things.created', generous.other]]);
  });

  it('names the field of the id', async () => {
    const { id, at, thing } = await create(resource({ idField: 'name' }));
    bench.provider.change(thing);
    await bench.run(id);
    expect(await bench.arrived(at, 1)).to.deep.equal([['things.updated', `Thing ${thing}`]]);
  });

  it('says how many records are asked for at a time, by its member or in the URL', async () => {
    await create(resource({ pageSize: 7 }));
    expect(lastRequested()).to.include({ limit: 7 });
    await create({ [CONFIGURATION]: { things: { url: urlOf(`c${number}`, '&pageSize=8') } } });
    expect(lastRequested()).to.include({ limit: 8 });
  });

  it('says how late changes may become visible', async () => {
    for (const [pollDelay, overlapMs] of [
      [0, 0],
      [3600, 3_600_000],
    ]) {
      const { id } = await create(resource({ pollDelay }));
      const { watermark } = await bench.poll(id);
      await bench.run(id);
      const [asked = ''] = /(?<=updatedAt >= )\S+/.exec(lastRequested()?.filter ?? '') ?? [];
      // What one millisecond does not tell apart is asked for again, too.
      expect(Date.parse(watermark) - Date.parse(asked)).to.equal((overlapMs ?? 0) + 1);
    }
  });

  it('knows what changed, and up to when, though its URL names other fields only', async () => {
    const { id, at, state, other } = await create({
      [CONFIGURATION]: { things: { url: urlOf(`c${number}`, '&fields=name') } },
    });
    bench.provider.add(other, { state });
    const { watermark } = await bench.run(id);
    expect(await bench.arrived(at, 1)).to.deep.equal([['things.created', other]]);
    bench.provider.change(other);
    expect((await bench.run(id)).watermark > watermark).to.equal(true);
  });

  it('lets a list that shows everything tell what changed, by the date of its records', async () => {
    const everything = `/things?where=state = 'c${number}'`;
    const members = { url: everything, filterByUpdatedDate: 'true', pollDelay: 0 };
    const { id, at, state, other } = await create({ [CONFIGURATION]: { things: members } });
    expect(await bench.poll(id)).to.include({ method: 'window' });
    bench.provider.add(other, { state, updatedAt: '2020-01-01T00:00:00.000Z', createdAt: '2020-01-01T00:00:00.000Z' });
    bench.provider.add(`${other}-new`, { state });
    await bench.run(id);
    expect(await bench.arrived(at, 1)).to.deep.equal([['things.created', `${other}-new`]]);
    expect(await bench.run(id)).to.include({ events: 1 });
  });

  it('names the fields of dates and their form', async () => {
    const datesConfiguration = { updatedDateField: 'name', updatedDateFormat: 'dd.MM.yyyy HH:mm:ss' };
    const members = { url: `/things?where=state = 'c${number}'`, filterByUpdatedDate: true, datesConfiguration };
    const { id, thing } = await create({
      [CONFIGURATION]: { things: members },
      'event.poller.time.zone': 'Asia/Kolkata',
      'event.poller.backfill': true,
    });
    bench.provider.change(thing, { name: '01.02.2026 05:30:00' });
    await bench.run(id);
    expect(await bench.poll(id)).to.include({ watermark: '2026-02-01T00:00:00.000Z' });
  });

  it('takes objects by name, with the URL or without, and each has a poll of its own', async () => {
    const { id } = await create({ ...resource({}), 'event.objects': 'notes' });
    const polls = await pollsOf(bench.service, id);
    expect(polls.map(({ resource, method }: Record<string, string>) => [resource, method])).to.deep.equal([
      ['notes', 'snapshot'],
      ['things', 'window'],
    ]);
  });

  it('is that of the element when there is an interval only; the record is in the event as the API shows it', async () => {
    const { id, at, other, state } = await create({});
    expect((await pollsOf(bench.service, id)).map(({ resource }: { resource: string }) => resource)).to.deep.equal([
      'things',
    ]);
    bench.provider.add(other, { state });
    await bench.run(id);
    await bench.arrived(at, 1);
    const [request] = bench.receiver.requests.filter(({ url }) => url === at);
    const { data } = JSON.parse(request?.body ?? '{}');
    expect(data.object).to.include({ id: other, state });
  });

  it('has deletions where the provider tells of them', async () => {
    const { id, at, thing } = await create({ 'event.objects': 'mortals' });
    bench.provider.change(thing);
    await bench.run(id, 'mortals');
    bench.provider.remove(thing);
    await bench.run(id, 'mortals');
    expect(await bench.arrived(at, 2)).to.deep.equal([
      ['mortals.updated', thing],
      ['mortals.deleted', thing],
    ]);
  });

  it('polls nothing where the provider sends webhooks, and nothing while events are off', async () => {
    const name = { 'base.url': bench.provider.url, 'api.key': 'quiet', 'event.objects': 'things' };
    const enabled = {
      'event.notification.enabled': true,
      'event.notification.callback.url': `${bench.receiver.url}/quiet`,
    };
    for (const more of [{ ...enabled, 'event.vendor.type': 'webhook' }, {}]) {
      const { id } = await bench.service.createInstance('things', { ...name, ...more });
      // Made after it, and polled by now.
      await create({});
      expect(await pollsOf(bench.service, id)).to.deep.equal([]);
    }
    expect(bench.provider.requested.filter(({ key }) => key === 'quiet')).to.deep.equal([]);
  });

  it('asks this service and no other, by a path or by an address that leads here', async () => {
    const body = (url: string) => ({
      'base.url': bench.provider.url,
      'api.key': 'asked',
      [CONFIGURATION]: { things: { url } },
    });
    const { port } = new URL(bench.service.app.url);
    for (const own of ['', '/elements/api-v2', bench.service.app.url, `http://localhost:${port}/elements/api-v2`]) {
      const { id } = await bench.service.createInstance('things', body(`${own}/hubs/general/things`));
      const strange = body('https://api.cloud-elements.com/elements/api-v2/things?pageSize=5')[CONFIGURATION];
      for (const configuration of [{ [CONFIGURATION]: strange }, { [CONFIGURATION]: JSON.stringify(strange) }]) {
        const response = await bench.service.call(`/instances/${id}`, { method: 'PATCH', body: { configuration } });
        expectProblem(response, 'REQUEST_INVALID');
        expect(response.body.details).to.deep.equal([
          {
            path: `/body/configuration/${CONFIGURATION}/things/url`,
            message: `'${CONFIGURATION}.things.url' cannot be used: polls query this service at ${bench.service.app.url}, not https://api.cloud-elements.com. Write '/things?pageSize=5' instead.`,
          },
        ]);
      }
    }
  });

  it('is refused with the path of what is wrong, also when it is the text of JSON', async () => {
    const things = { url: '/things?where=updatedAt >=', datesConfiguration: { updatedDateFormat: 'yyyy-MM-ddTHH' } };
    for (const given of [{ things }, JSON.stringify({ things })]) {
      const body = {
        element: { key: 'things' },
        name: 'Faulty',
        configuration: { 'base.url': bench.provider.url, 'api.key': 'faulty', [CONFIGURATION]: given },
      };
      const response = await bench.service.call('/instances', { method: 'POST', body });
      expectProblem(response, 'REQUEST_INVALID', /The filter cannot be read at position 12/);
      expect(response.body.details.map(({ path }: { path: string }) => path)).to.have.members([
        `/body/configuration/${CONFIGURATION}/things/url`,
        `/body/configuration/${CONFIGURATION}/things/datesConfiguration/updatedDateFormat`,
      ]);
    }
  });
});
