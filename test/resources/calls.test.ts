import { expect } from 'chai';
import type { ConnectorContext, FieldSpec, Objects } from '../../src/connector/index.ts';
import { AppError } from '../../src/errors.ts';
import { failureOf } from '../support/failures.ts';
import { createObject, createService } from './fake-provider.ts';

const ROWS = [{ id: 1, name: 'one' }];
const MINUTE_MS = 60_000;

/** Discovery with one call to the provider, counted. */
function createDiscovery() {
  const objects: Objects = { rows: createObject(ROWS) };
  let count = 0;
  const discover = async ({ send }: ConnectorContext): Promise<Objects> => {
    count++;
    await send({ path: '/metadata' });
    return objects;
  };
  return { discover, count: () => count };
}

describe('discovery', () => {
  it('is done once, and later calls make no call of their own for it', async () => {
    const { discover, count } = createDiscovery();
    const service = createService(discover);
    const first = await service.list();
    const second = await service.list();
    expect([first.providerCalls, second.providerCalls, count()]).to.deep.equal([2, 1, 1]);
  });

  it('is shared by calls at the same time', async () => {
    const { discover, count } = createDiscovery();
    const service = createService(discover);
    const lists = await Promise.all([service.list(), service.list(), service.list()]);
    expect([lists.length, count()]).to.deep.equal([3, 1]);
  });

  it('is done again after ten minutes', async () => {
    const { discover, count } = createDiscovery();
    const service = createService(discover);
    await service.list();
    await service.moveClock(10 * MINUTE_MS - 1);
    await service.list();
    expect(count()).to.equal(1);
    await service.moveClock(1);
    await service.list();
    expect(count()).to.equal(2);
  });

  it('is done again after it failed', async () => {
    const { discover, count } = createDiscovery();
    const service = createService(discover);
    service.failWith(new AppError('PROVIDER_UNAVAILABLE', 'later'));
    expect((await failureOf(service.list())).code).to.equal('PROVIDER_UNAVAILABLE');
    service.failWith(undefined);
    expect((await service.list()).records).to.have.length(1);
    expect(count()).to.equal(2);
  });

  it('is separate for each instance', async () => {
    const { discover, count } = createDiscovery();
    const service = createService(discover);
    await service.list();
    await service.list({}, { id: 8 });
    expect(count()).to.equal(2);
  });

  it('goes on for the others when the caller who began it hangs up', async () => {
    const { discover } = createDiscovery();
    const service = createService(discover);
    const caller = new AbortController();
    const begun = service.resources.listObjects({ instance: service.instance, signal: caller.signal });
    const waiting = service.list();
    caller.abort(new Error('hung up'));
    expect(await begun.catch((error: unknown) => error)).to.have.property('message', 'hung up');
    expect((await waiting).records).to.have.length(1);
  });

  it('refuses objects that cannot work, and names every problem', async () => {
    const object = createObject(ROWS);
    const name: FieldSpec = { type: 'string', filter: { LIKE: 'exact' } };
    const broken: Objects = { rows: { ...object, fields: { ...object.fields, name } }, 'a/b/c': object };
    const service = createService(async () => broken);
    const error = await service.list().catch((reason: unknown) => reason);
    expect(error)
      .to.have.property('problems')
      .that.deep.equals([
        "fake: rows: name: LIKE is declared, but the translator has no 'like'",
        'fake: a/b/c: the name does not fit a path',
      ]);
  });

  it('suggests the nearest name of an object that is not there', async () => {
    const service = createService({ rows: createObject(ROWS) });
    const signal = new AbortController().signal;
    const { code, message } = await failureOf(
      service.resources.getObject({ instance: service.instance, objectName: 'row', signal }),
    );
    expect([code, message]).to.deep.equal([
      'NOT_FOUND',
      "Fake has no object 'row'. Did you mean 'rows'? GET /objects lists them all.",
    ]);
  });

  it('quotes no more than 100 characters of a name', async () => {
    const service = createService({ rows: createObject(ROWS) });
    const objectName = 'x'.repeat(5000);
    const target = { instance: service.instance, objectName, signal: new AbortController().signal };
    const { message, details } = await failureOf(service.resources.getObject(target));
    expect(message).to.equal(`Fake has no object '${'x'.repeat(100)}…'. GET /objects lists them all.`);
    expect(JSON.stringify(details).length).to.be.lessThan(200);
  });

  it('does not take names from the prototype of objects', async () => {
    const service = createService({ rows: createObject(ROWS) });
    const target = { instance: service.instance, objectName: 'constructor', signal: new AbortController().signal };
    expect((await failureOf(service.resources.getObject(target))).code).to.equal('NOT_FOUND');
  });
});

describe('the verdict on credentials', () => {
  it('is not told as long as nothing changes', async () => {
    const service = createService({ rows: createObject(ROWS) });
    await service.list();
    expect(service.verdicts).to.deep.equal([]);
  });

  it('is told when the provider refuses them', async () => {
    const service = createService({ rows: createObject(ROWS) });
    service.failWith(new AppError('INSTANCE_CREDENTIALS_FAILED', 'no'));
    await failureOf(service.list());
    expect(service.verdicts).to.deep.equal(['7 refused: list rows']);
  });

  it('is told when they are accepted again', async () => {
    const service = createService({ rows: createObject(ROWS) });
    await service.list({}, { valid: false });
    expect(service.verdicts).to.deep.equal(['7 accepted: list rows']);
  });

  it('tells a description of objects from what is done to records', async () => {
    const service = createService(async ({ send }) => {
      await send({ path: '/describe' });
      return { rows: createObject(ROWS) };
    });
    await service.list({}, { valid: false });
    expect(service.verdicts).to.deep.equal(['7 accepted: describe objects', '7 accepted: list rows']);
  });

  it('is not made by other failures', async () => {
    const service = createService({ rows: createObject(ROWS) });
    service.failWith(new AppError('PROVIDER_REJECTED', 'no'));
    await failureOf(service.list({}, { valid: false }));
    expect(service.verdicts).to.deep.equal([]);
  });
});

describe('a call on an instance', () => {
  it('is refused while it is disabled, but its objects are told', async () => {
    const service = createService({ rows: createObject(ROWS) });
    const { code, message } = await failureOf(service.list({}, { disabled: true }));
    expect([code, message]).to.deep.equal([
      'FORBIDDEN',
      'Instance 7 is disabled; PUT /instances/7/enabled switches it on.',
    ]);
    const instance = service.createInstance({ disabled: true });
    const objects = await service.resources.listObjects({ instance, signal: new AbortController().signal });
    expect(objects).to.have.keys('rows');
  });

  it('cannot do what the object does not declare, and says what it can', async () => {
    const service = createService({ rows: createObject(ROWS) });
    const target = { instance: service.instance, objectName: 'rows', signal: new AbortController().signal };
    const create = await failureOf(service.resources.createRecord(target, { name: 'x' }));
    expect([create.code, create.message, create.allow]).to.deep.equal([
      'OPERATION_UNSUPPORTED',
      'Fake cannot POST /rows; it supports GET there.',
      ['GET'],
    ]);
    const get = await failureOf(service.resources.getRecord(target, '1'));
    expect([get.message, get.allow]).to.deep.equal([
      'Fake cannot GET /rows/{objectId}; it supports nothing there.',
      [],
    ]);
  });

  it('finds no child where there is none', async () => {
    const service = createService({ rows: { ...createObject(ROWS), children: { notes: createObject(ROWS) } } });
    const target = { instance: service.instance, objectName: 'rows', id: '1', signal: new AbortController().signal };
    const request = { pageSize: 5, maxProviderCalls: 25, pushdownOnly: false };
    const { code, message } = await failureOf(service.resources.listChildren({ ...target, child: 'note' }, request));
    expect([code, message]).to.deep.equal([
      'NOT_FOUND',
      "'rows' has no child object 'note'. Did you mean 'notes'? It has: notes.",
    ]);
    await service.resources.listChildren({ ...target, child: 'notes' }, request);
    expect(service.sent).to.have.nested.property('[0].json.parentId', '1');
  });
});
