import { expect } from 'chai';
import type { ConnectorContext, FieldSpec, Objects } from '../../src/connector/index.ts';
import { AppError } from '../../src/errors.ts';
import { expectFailure, failureOf } from '../support/failures.ts';
import { createObject, createService, type FakeService } from './fake-provider.ts';

const ROWS = [{ id: 1, name: 'one' }];
const MINUTE_MS = 60_000;

const serve = (objects: Objects = { rows: createObject(ROWS) }) => createService(objects);

/** Discovery with one call to the provider, counted. */
function serveDiscovered() {
  const objects: Objects = { rows: createObject(ROWS) };
  let count = 0;
  const service = createService(async ({ send }: ConnectorContext) => {
    count++;
    await send({ path: '/metadata' });
    return objects;
  });
  return { service, count: () => count };
}

const targetOf = ({ instance }: FakeService, objectName = 'rows') => {
  return { instance, objectName, signal: new AbortController().signal };
};

describe('discovery', () => {
  it('is done once, and later calls make no call of their own for it', async () => {
    const { service, count } = serveDiscovered();
    const first = await service.list();
    const second = await service.list();
    expect([first.providerCalls, second.providerCalls, count()]).to.deep.equal([2, 1, 1]);
  });

  it('is shared by calls at the same time', async () => {
    const { service, count } = serveDiscovered();
    const lists = await Promise.all([service.list(), service.list(), service.list()]);
    expect([lists.length, count()]).to.deep.equal([3, 1]);
  });

  it('is done again after ten minutes', async () => {
    const { service, count } = serveDiscovered();
    await service.list();
    await service.moveClock(10 * MINUTE_MS - 1);
    await service.list();
    expect(count()).to.equal(1);
    await service.moveClock(1);
    await service.list();
    expect(count()).to.equal(2);
  });

  it('is done again after it failed', async () => {
    const { service, count } = serveDiscovered();
    service.failWith(new AppError('PROVIDER_UNAVAILABLE', 'later'));
    await expectFailure(service.list(), 'PROVIDER_UNAVAILABLE');
    service.failWith(undefined);
    expect((await service.list()).records).to.have.length(1);
    expect(count()).to.equal(2);
  });

  it('is separate for each instance', async () => {
    const { service, count } = serveDiscovered();
    await service.list();
    await service.list({}, { id: 8 });
    expect(count()).to.equal(2);
  });

  it('goes on for the others when the caller who began it hangs up', async () => {
    const { service } = serveDiscovered();
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
    const service = serve();
    await expectFailure(
      service.resources.getObject(targetOf(service, 'row')),
      'NOT_FOUND',
      "Fake has no object 'row'. Did you mean 'rows'? GET /objects lists them all.",
    );
  });

  it('quotes no more than 100 characters of a name', async () => {
    const service = serve();
    const target = targetOf(service, 'x'.repeat(5000));
    const { message, details } = await failureOf(service.resources.getObject(target));
    expect(message).to.equal(`Fake has no object '${'x'.repeat(100)}…'. GET /objects lists them all.`);
    expect(JSON.stringify(details).length).to.be.lessThan(200);
  });

  it('does not take names from the prototype of objects', async () => {
    const service = serve();
    const failure = await failureOf(service.resources.getObject(targetOf(service, 'constructor')));
    expect(failure.code).to.equal('NOT_FOUND');
  });
});

describe('the verdict on credentials', () => {
  for (const [when, failure, valid, verdicts] of [
    ['is not told as long as nothing changes', undefined, true, []],
    ['is told when the provider refuses them', 'INSTANCE_CREDENTIALS_FAILED', true, ['7 refused: list rows']],
    ['is told when they are accepted again', undefined, false, ['7 accepted: list rows']],
    ['is not made by other failures', 'PROVIDER_REJECTED', false, []],
  ] as const) {
    it(when, async () => {
      const service = serve();
      if (failure !== undefined) service.failWith(new AppError(failure, 'no'));
      const code = await service
        .list({}, { valid })
        .then(() => undefined, Object)
        .then((error) => error?.code);
      expect([code, service.verdicts]).to.deep.equal([failure, verdicts]);
    });
  }

  it('tells a description of objects from what is done to records', async () => {
    const service = createService(async ({ send }) => {
      await send({ path: '/describe' });
      return { rows: createObject(ROWS) };
    });
    await service.list({}, { valid: false });
    expect(service.verdicts).to.deep.equal(['7 accepted: describe objects', '7 accepted: list rows']);
  });
});

describe('a call on an instance', () => {
  it('is refused while it is disabled, but its objects are told', async () => {
    const service = serve();
    await expectFailure(
      service.list({}, { disabled: true }),
      'FORBIDDEN',
      'Instance 7 is disabled. Enable it with PUT /instances/7/enabled.',
    );
    const instance = service.createInstance({ disabled: true });
    const { objects } = await service.resources.listObjects({ instance, signal: new AbortController().signal });
    expect(objects).to.have.keys('rows');
  });

  it('cannot do what the object does not declare, and says what it can', async () => {
    const service = serve();
    const target = targetOf(service);
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
    const target = { ...targetOf(service), id: '1' };
    const request = { pageSize: 5, maxProviderCalls: 25, pushdownOnly: false };
    await expectFailure(
      service.resources.listChildren({ ...target, child: 'note' }, request),
      'NOT_FOUND',
      "'rows' has no child object 'note'. Did you mean 'notes'? It has: notes.",
    );
    await service.resources.listChildren({ ...target, child: 'notes' }, request);
    expect(service.sent).to.have.nested.property('[0].json.parentId', '1');
  });
});
