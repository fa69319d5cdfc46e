import { expect } from 'chai';
import {
  type ConnectorContext,
  json,
  type Operation,
  type ProviderRequest,
  type ProviderResponse,
  path,
  records,
} from '#connector';
import { AppError } from '../../../src/errors.ts';

const get = (id: string, natives: readonly string[]) => ({
  path: path`/things/${id}`,
  query: { fields: natives.join() },
});
const FIELDS = [
  { name: 'id', native: 'Id', type: 'string' },
  { name: 'name', native: 'Name', type: 'string' },
  { name: 'key', native: 'Id', type: 'string' },
] as const;
const READ = { path: '/things/7', query: { fields: 'Id,Name' } };

function answering(...answers: readonly (Partial<ProviderResponse> | Error)[]) {
  const asked: ProviderRequest[] = [];
  const controller = new AbortController();
  const send = async (request: ProviderRequest): Promise<ProviderResponse> => {
    asked.push(request);
    const response = answers[asked.length - 1];
    if (response instanceof Error) throw response;
    return { status: 200, headers: {}, body: undefined, ...response };
  };
  return { asked, controller, send, context: { config: {}, send, signal: controller.signal } };
}

/** As the client runs an operation. */
async function perform<Input, Output>(
  operation: Operation<Input, Output>,
  input: Input,
  context: ConnectorContext,
): Promise<Output> {
  if ('run' in operation) return operation.run(context, input);
  return operation.read(await context.send(operation.request(input, context.config)), input);
}

describe('operations on one record', () => {
  it('are those that are given', () => {
    expect(Object.keys(records({ get }))).to.deep.equal(['get']);
    const all = records({
      get,
      create: { request: (values) => ({ json: values }) },
      update: () => ({}),
      replace: () => ({}),
      remove: () => ({}),
    });
    expect(Object.keys(all)).to.deep.equal(['get', 'create', 'update', 'replace', 'remove']);
  });

  it('read the wanted fields, each once', () => {
    const operation = records({ get }).get;
    expect(operation.request({ id: '7', fields: FIELDS }, {})).to.deep.equal(READ);
    expect(operation.read({ status: 200, headers: {}, body: { Id: '7' } })).to.deep.equal({ Id: '7' });
    expect(() => operation.read({ status: 200, headers: {}, body: [] })).to.throw('The response lacks a record.');
  });

  it('read a record from where it stands', () => {
    const { get: operation } = records({ get, record: ({ body }) => json.at(body, 'data') });
    expect(operation.read({ status: 200, headers: {}, body: { data: { Id: '7' } } })).to.deep.equal({ Id: '7' });
  });

  const create = {
    request: (values: object) => ({ method: 'POST', path: '/things', json: values }) as const,
    id: ({ body }: ProviderResponse) => json.key(json.at(body, 'id'), 'the id of the new record'),
  };

  it('read back what was created under the id that was answered', async () => {
    const { asked, context } = answering({ body: { id: 7 } }, { body: { Id: '7', Name: 'New' } });
    const operation = records({ get, create }).create;
    if (operation === undefined || !('run' in operation)) throw new Error('A function was expected.');
    expect(await operation.run(context, { values: { Name: 'New' }, fields: FIELDS })).to.deep.equal({
      Id: '7',
      Name: 'New',
    });
    expect(asked).to.deep.equal([{ method: 'POST', path: '/things', json: { Name: 'New' } }, READ]);
  });

  it('never read as if nothing had been created when only the reading failed', async () => {
    const { context } = answering({ body: { id: 7 } }, new AppError('PROVIDER_UNAVAILABLE', 'It answered 503.'));
    const operation = records({ get, create }).create;
    if (operation === undefined || !('run' in operation)) throw new Error('A function was expected.');
    const error = await operation.run(context, { values: {}, fields: [] }).catch((reason: unknown) => reason);
    expect(error).to.include({
      code: 'PROVIDER_PROTOCOL',
      message:
        "The record was created with the id '7'. Do not create it again. Only reading it back failed. It answered 503.",
    });
  });

  it('end with the reason of whoever gave up while the new record was read', async () => {
    const { context, controller } = answering({ body: { id: 7 } }, new Error('aborted'));
    controller.abort(new Error('The client has gone.'));
    const operation = records({ get, create }).create;
    if (operation === undefined || !('run' in operation)) throw new Error('A function was expected.');
    const error = await operation.run(context, { values: {}, fields: [] }).catch((reason: unknown) => reason);
    expect(error).to.have.property('message', 'The client has gone.');
  });

  it('read back what was changed, unless the answer holds it', async () => {
    const change = (id: string, values: object) =>
      ({ method: 'PATCH', path: path`/things/${id}`, json: values }) as const;
    const { update, replace } = records({
      get,
      update: change,
      replace: { request: change, record: ({ body }) => body },
    });
    const { asked, context } = answering({ status: 204 }, { body: { Id: '7' } }, { body: { Id: '8' } });
    if (update === undefined || replace === undefined) throw new Error('Both were given.');
    const input = { id: '7', values: { Name: 'B' }, fields: FIELDS };
    expect(await perform(update, input, context)).to.deep.equal({ Id: '7' });
    expect(await perform(replace, input, context)).to.deep.equal({ Id: '8' });
    const sent = { method: 'PATCH', path: '/things/7', json: { Name: 'B' } };
    expect(asked).to.deep.equal([sent, READ, sent]);
  });

  it('take an id as one segment of the path', () => {
    const { remove } = records({ get, remove: (id) => ({ method: 'DELETE', path: path`/things/${id}` }) });
    expect(remove?.request({ id: '../7?x' }, {})).to.deep.equal({ method: 'DELETE', path: '/things/..%2F7%3Fx' });
    expect(remove?.read()).to.equal(undefined);
  });
});
