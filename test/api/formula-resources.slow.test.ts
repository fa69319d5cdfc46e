import { expect } from 'chai';
import { type ApiAnswer, useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { BAMBOOHR } from './support/simulated.ts';
import { authorizationOf, useTenants } from './support/tenants.ts';

const script = (name: string, body: string, more: object = {}) => ({
  name,
  type: 'script',
  properties: { body },
  ...more,
});
const MANUAL = { type: 'manual', onSuccess: ['end'] };

describe('formulas as resources', () => {
  const service = useSharedApp({}, { formulaOptions: { responseMs: 1_500 } });
  const tenants = useTenants(service);

  async function createResource(uri: string, steps: readonly object[], method = 'POST', instance: object = {}) {
    const formula = await service.change('POST', '/formulas', { name: uri, method, uri, triggers: [MANUAL], steps });
    const { id } = await service.change('POST', `/formulas/${formula.id}/instances`, { name: 'Instance', ...instance });
    return { formulaId: formula.id as number, id: id as number };
  }

  const run = (
    path: string,
    id: number | undefined,
    call: Parameters<typeof service.call>[1] = {},
  ): Promise<ApiAnswer> =>
    service.call(path, {
      method: 'POST',
      ...call,
      headers: { ...(id !== undefined && { 'Elements-Formula-Instance-Id': String(id) }), ...call.headers },
    });

  it('answer what the last step left', async () => {
    const { id } = await createResource('/sync-members', [
      script('end', 'console.log("x"); done({ got: trigger.args.a + 1, deep: { b: [1] } });'),
    ]);
    const answer = await run('/sync-members', id, { body: { a: 1 } });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ got: 2, deep: { b: [1] } });
    const executionId = Number(answer.headers.get('Elements-Formula-Execution-Id'));
    const execution = await service.get(`/formulas/instances/executions/${executionId}`);
    expect(execution).to.include({ formulaInstanceId: id, status: 'success' });
  });

  it('get the request with the arguments, unless the body has a request', async () => {
    const { id } = await createResource('/sync-request', [script('end', 'done({ args: trigger.args });')]);
    const { args } = (await run('/sync-request', id, { body: { a: 1 }, query: { q: 'x' } })).body;
    expect(args).to.deep.include({ a: 1 });
    expect(args.request).to.deep.include({ method: 'POST', uri: '/sync-request', query: { q: 'x' }, body: { a: 1 } });
    expect(args.request.headers).to.include({ authorization: '********', 'content-type': 'application/json' });
    expect((await run('/sync-request', id, { body: { request: 7 } })).body).to.deep.equal({ args: { request: 7 } });
    expect((await run('/sync-request', id, { body: [1, 'a'] })).body).to.deep.equal({ args: [1, 'a'] });
    expect((await run('/sync-request', id, { body: '"plain"' })).body).to.deep.equal({ args: 'plain' });
    for (const body of ['null', '[]', '[null]', '7', 'false', '""'])
      expect((await run('/sync-request', id, { body })).body, body).to.deep.equal({ args: JSON.parse(body) });
    expect((await run('/sync-request', id)).body.args).to.have.all.keys('request');
  });

  it('set the status and the body', async () => {
    const { id } = await createResource(
      '/sync-status',
      [script('end', 'done({ statusCode: 420, result: trigger.args.result });')],
      'PUT',
    );
    const answer = await run('/sync-status', id, { method: 'PUT', body: { result: ['a', { b: 1 }] } });
    expect([answer.status, answer.body]).to.deep.equal([420, ['a', { b: 1 }]]);
    const { id: failing } = await createResource('/sync-failure', [
      script('end', "throw('no'); done();", { onFailure: ['tell'] }),
      script('tell', 'done({ statusCode: 503, result: { error: steps.end.error } });'),
    ]);
    const failure = await run('/sync-failure', failing);
    expect([failure.status, failure.body]).to.deep.equal([503, { error: 'no' }]);
    const { id: empty } = await createResource('/sync-empty', [script('end', 'done({ statusCode: 204 });')], 'DELETE');
    expect((await run('/sync-empty', empty, { method: 'DELETE' })).status).to.equal(204);
  });

  it('fail with the step that failed', async () => {
    const { id } = await createResource('/sync-throws', [script('end', "throw('This is wrong'); done();")]);
    const answer = await run('/sync-throws', id);
    const executionId = answer.headers.get('Elements-Formula-Execution-Id');
    expectProblem(answer, 'FORMULA_FAILED', `Execution ${executionId} failed at the step 'end': This is wrong`);
  });

  it('answer by the setting api without the header', async () => {
    const { id } = await createResource('/sync-own', [script('end', 'done({ id: info.formulaInstanceId });')], 'POST', {
      settings: { api: 'GET /own-path/of-it' },
    });
    const answer = await service.call('/own-path/of-it');
    expect([answer.status, answer.body]).to.deep.equal([200, { id }]);
    expect((await run('/sync-own', id)).body).to.deep.equal({ id });
  });

  it('keep their values to themselves without debug logging, and answer all the same', async () => {
    const formula = await service.change('POST', '/formulas', {
      name: 'quiet',
      method: 'POST',
      uri: '/sync-quiet',
      debugLoggingEnabled: false,
      engine: 'v3',
      triggers: [MANUAL],
      steps: [script('end', 'done({ a: 1 });')],
    });
    const { id } = await service.change('POST', `/formulas/${formula.id}/instances`, { name: 'Instance' });
    const answer = await run('/sync-quiet', id);
    expect(answer.body).to.deep.equal({ a: 1 });
    const executionId = answer.headers.get('Elements-Formula-Execution-Id');
    const steps = await service.get(`/formulas/instances/executions/${executionId}/steps`, {
      query: { includeValues: 'true' },
    });
    expect(steps.at(-1).stepExecutionValues).to.deep.equal([]);
  });

  it('go on when they take too long', async () => {
    const { id } = await createResource('/sync-slow', [
      {
        name: 'end',
        type: 'httpRequest',
        properties: {
          method: 'GET',
          url: 'http://127.0.0.1:9/',
          retry: 'true',
          retryAttempts: '1',
          retryDelay: '2500',
        },
      },
    ]);
    const answer = await run('/sync-slow', id);
    const executionId = answer.headers.get('Elements-Formula-Execution-Id');
    const message = `Execution ${executionId} takes longer than 1.5 seconds, and continues. Read it with GET /formulas/instances/executions/${executionId}.`;
    expectProblem(answer, 'FORMULA_TIMEOUT', message);
    const body = await service.get(`/formulas/instances/executions/${executionId}`);
    expect(body.status).to.equal('pending');
  });

  it('run once for an Idempotency-Key', async () => {
    const { id } = await createResource('/sync-once', [script('end', 'done({ id: info.formulaExecutionId });')]);
    const headers = { 'Idempotency-Key': 'sync-once-1' };
    const first = await run('/sync-once', id, { headers, body: { a: 1 } });
    const again = await run('/sync-once', id, { headers, body: { a: 1 } });
    expect(again.body).to.deep.equal(first.body);
    expectProblem(await run('/sync-once', id, { headers, body: { a: 2 } }), 'CONFLICT');
  });

  it('are refused where nothing is there, and without a right', async () => {
    const { id, formulaId } = await createResource('/sync-refused', [script('end', 'done();')]);
    const other = await createResource('/sync-other', [script('end', 'done();')]);
    const message = `POST /sync-refused runs formula ${formulaId}. Send the header Elements-Formula-Instance-Id with the id of one of its instances.`;
    expectProblem(await run('/sync-refused', undefined), 'REQUEST_INVALID', message);
    expectProblem(await run('/sync-refused', other.id), 'NOT_FOUND');
    expectProblem(
      await run('/sync-refused', undefined, { headers: { 'Elements-Formula-Instance-Id': 'x' } }),
      'REQUEST_INVALID',
    );
    expectProblem(await run('/sync-refused', id, { method: 'PUT' }), 'NOT_FOUND');
    expectProblem(await run('/nothing-here', id), 'NOT_FOUND');
    expectProblem(
      await run('/sync-refused', id, { headers: { authorization: 'User x, Organization y' } }),
      'UNAUTHENTICATED',
    );
    await service.change('PATCH', `/formulas/${formulaId}`, { method: null, uri: null });
    expectProblem(await run('/sync-refused', id), 'NOT_FOUND');
  });

  it('share a method and path, and run the instance that the request names', async () => {
    const one = await createResource('/sync-shared', [script('end', 'done({ n: 1 });')]);
    const two = await createResource('/sync-shared', [script('end', 'done({ n: 2 });')]);
    expect((await run('/sync-shared', one.id)).body).to.deep.equal({ n: 1 });
    expect((await run('/sync-shared', two.id)).body).to.deep.equal({ n: 2 });
    const message = `POST /sync-shared runs formula ${one.formulaId} or ${two.formulaId}. Send the header Elements-Formula-Instance-Id with the id of one of its instances.`;
    expectProblem(await run('/sync-shared', undefined), 'REQUEST_INVALID', message);
    await service.change('PATCH', `/formulas/${one.formulaId}`, { method: null, uri: null });
    expectProblem(await run('/sync-shared', one.id), 'NOT_FOUND');
    expect((await run('/sync-shared', two.id)).body).to.deep.equal({ n: 2 });
  });

  it('answer with the token of an element instance, too', async () => {
    const { token } = await service.createInstance('bamboohr', BAMBOOHR);
    const { id } = await createResource('/sync-token/deep/er/path', [script('end', 'done({ a: trigger.args.a });')]);
    const { id: own } = await createResource('/sync-token-own', [script('end', 'done({ own: 1 });')], 'POST', {
      settings: { api: 'GET /sync-token' },
    });
    const { organizationSecret, userSecret } = service;
    const authorization = `User ${userSecret}, Organization ${organizationSecret}, Element ${token}`;
    const headers = { authorization };
    const named = await run('/sync-token/deep/er/path', id, { headers, body: { a: 1 } });
    expect([named.status, named.body]).to.deep.equal([200, { a: 1 }]);
    expect(await service.get('/sync-token', { headers })).to.deep.equal({ own: 1 });
    expect((await run('/sync-token-own', own, { headers })).body).to.deep.equal({ own: 1 });
    expectProblem(await run('/sync-token-own', undefined, { headers }), 'REQUEST_INVALID', /Send the header/);
    // Other paths stay those of the element, and the organization must vouch for the caller.
    expectProblem(await service.call('/sync-tokens', { headers }), 'NOT_FOUND', /no object 'sync-tokens'/);
    expectProblem(await run('/sync-token-own', own, { token }), 'UNAUTHENTICATED', /also needs `Organization/);
  });

  it('belong to their account alone', async () => {
    const { id } = await createResource('/sync-tenant', [script('end', 'done({ a: 1 });')]);
    for (const tenant of [tenants.stranger, tenants.sibling]) {
      const headers = authorizationOf(tenant);
      expectProblem(await run('/sync-tenant', id, { headers }), 'NOT_FOUND');
    }
    const headers = authorizationOf(tenants.colleague);
    expect((await run('/sync-tenant', id, { headers })).body).to.deep.equal({ a: 1 });
  });
});
