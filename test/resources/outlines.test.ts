import { expect } from 'chai';
import type { ConnectorContext, ObjectSpec, Objects } from '../../src/connector/index.ts';
import { AppError } from '../../src/errors.ts';
import { expectFailure } from '../support/failures.ts';
import { createObject, createService } from './fake-provider.ts';

const MINUTE_MS = 60_000;
const { signal } = new AbortController();

/** Objects that are known by name, and described by one more call each. */
function createOutlines(names: readonly string[], describe = createObject([{ id: 1, name: 'one' }])) {
  const described: string[] = [];
  const outlineOf = (name: string): ObjectSpec => ({
    ...createObject([]),
    fields: {},
    describe: async ({ send }) => {
      described.push(name);
      await send({ path: `/describe/${name}` });
      return describe;
    },
  });
  const discover = async ({ send }: ConnectorContext): Promise<Objects> => {
    await send({ path: '/metadata' });
    return Object.fromEntries(names.map((name) => [name, outlineOf(name)]));
  };
  return { discover, described };
}

describe('objects that are discovered as outlines', () => {
  it('are listed with one call, however many they are', async () => {
    const { discover, described } = createOutlines(Array.from({ length: 1200 }, (_, index) => `object${index}`));
    const service = createService(discover);
    const { objects } = await service.resources.listObjects({ instance: service.instance, signal });
    expect([Object.keys(objects).length, service.sent.length, described]).to.deep.equal([1200, 1, []]);
  });

  it('are described when they are used, one at a time and once', async () => {
    const { discover, described } = createOutlines(['rows', 'others']);
    const service = createService(discover);
    const [first, second] = [await service.list({ where: 'id = 1' }), await service.list({ where: 'id = 1' })];
    expect([first.records.length, first.providerCalls, second.providerCalls]).to.deep.equal([1, 3, 1]);
    expect(described).to.deep.equal(['rows']);
  });

  it('are described once for calls at the same time', async () => {
    const { discover, described } = createOutlines(['rows']);
    const service = createService(discover);
    await Promise.all([service.list(), service.list(), service.list()]);
    expect(described).to.deep.equal(['rows']);
  });

  it('are described again after ten minutes', async () => {
    const { discover, described } = createOutlines(['rows']);
    const service = createService(discover);
    await service.list();
    await service.moveClock(10 * MINUTE_MS);
    await service.list();
    expect(described).to.deep.equal(['rows', 'rows']);
  });

  it('are described again after that failed', async () => {
    const { discover, described } = createOutlines(['rows']);
    const service = createService(discover);
    await service.resources.listObjects({ instance: service.instance, signal });
    service.failWith(new AppError('PROVIDER_UNAVAILABLE', 'later'));
    await expectFailure(service.list(), 'PROVIDER_UNAVAILABLE');
    service.failWith(undefined);
    expect((await service.list()).records).to.have.length(1);
    expect(described).to.deep.equal(['rows', 'rows']);
  });

  it('are described for each instance, even where instances share an outline', async () => {
    const { discover, described } = createOutlines(['rows']);
    let shared: Promise<Objects> | undefined;
    const service = createService((context) => {
      shared ??= discover(context);
      return shared;
    });
    await service.list();
    await service.list({}, { id: 8 });
    expect(described).to.deep.equal(['rows', 'rows']);
  });

  it('are discovered and described once for an instance, however often it is loaded, and again with other settings', async () => {
    const { discover, described } = createOutlines(['rows']);
    const service = createService(discover);
    await service.list();
    await service.list({}, { valid: false });
    expect([service.sent.length, described]).to.deep.equal([4, ['rows']]);
    await service.list({}, { settingsVersion: 2 });
    expect([service.sent.length, described]).to.deep.equal([7, ['rows', 'rows']]);
    await service.list({}, { accountId: 2 });
    expect([service.sent.length, described]).to.deep.equal([10, ['rows', 'rows', 'rows']]);
  });

  it('are discovered once though the instance is loaded again meanwhile', async () => {
    const { discover, described } = createOutlines(['rows']);
    const service = createService(discover);
    await Promise.all([service.list(), service.list({}, { valid: false }), service.list({}, {})]);
    expect([service.sent.length, described]).to.deep.equal([5, ['rows']]);
  });

  it('are checked when they are complete', async () => {
    const object: ObjectSpec = { ...createObject([]), get: { run: async () => ({}) }, idField: 'nothing' };
    const { discover } = createOutlines(['rows'], object);
    const service = createService(discover);
    const failure = await service.list().catch((error: Error) => error);
    expect(failure)
      .to.be.an('error')
      .with.property('message')
      .that.includes("fake: rows: there is no field 'nothing' to identify a record");
  });

  it('have no field to identify a record until then', async () => {
    const { discover } = createOutlines(['rows']);
    const service = createService(async (context) => {
      const objects = await discover(context);
      return { rows: { ...objects.rows, fields: {}, idField: 'key', get: { run: async () => ({}) } } };
    });
    const { objects } = await service.resources.listObjects({ instance: service.instance, signal });
    expect(Object.keys(objects)).to.deep.equal(['rows']);
  });
});
