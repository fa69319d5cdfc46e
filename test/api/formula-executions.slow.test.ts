import { expect } from 'chai';
import { untilRun } from '../polls/things.ts';
import { bodyOf, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { updateRows, withDatabase } from './support/tenants.ts';

const SERVICENOW = { username: 'admin', password: 'demo-password', 'company.name': 'demo', simulator: true };
const POLLED = {
  ...SERVICENOW,
  'event.notification.enabled': true,
  'event.vendor.type': 'polling',
  'event.objects': 'incident',
  'event.poller.refresh_interval': 0.05,
};
const DESK = { key: 'desk', type: 'elementInstance', required: true };
const ON_DESK = { elementInstanceId: `\${config.desk}` };
const END = { name: 'end', type: 'script', properties: { body: 'done({ trigger });' } };

interface Execution {
  readonly id: number;
  readonly status: string;
}

describe('executions of formulas over HTTP', function overHttp() {
  this.timeout(60_000);
  const service = useApp({}, { pollerOptions: { lookMs: 50 } });
  const { get, change } = service;

  /** A formula with an instance for an element instance. */
  async function createFormula(template: object, configuration: object = {}): Promise<number> {
    const formula = await change('POST', '/formulas', { name: 'formula', ...template });
    const { id } = await change('POST', `/formulas/${formula.id}/instances`, { name: 'one', configuration });
    return id;
  }

  async function untilExecutions(instanceId: number, count: number): Promise<readonly Execution[]> {
    let found: readonly Execution[] = [];
    await until(async () => {
      found = await get(`/formulas/instances/${instanceId}/executions`);
      return found.length >= count && found.every(({ status }) => status !== 'pending');
    });
    return found;
  }

  async function valuesOf(executionId: number, stepName: string) {
    const steps: readonly { stepName: string; stepExecutionValues: { key: string; value: string }[] }[] = await get(
      `/formulas/instances/executions/${executionId}/steps?includeValues=true`,
    );
    const values = steps.find((step) => step.stepName === stepName)?.stepExecutionValues ?? [];
    return Object.fromEntries(values.map(({ key, value }) => [key, value]));
  }

  async function createIncident(token: string): Promise<{ readonly sys_id: string }> {
    const [{ caller_id }] = await service.get('/incident', { token, query: { pageSize: '1' } });
    return await service.change('POST', '/incident', { short_description: 'Broken', caller_id }, { token });
  }

  it('begin with an event of a poll, in its transaction, without any callback URL', async () => {
    const { id, token } = await service.createInstance('servicenow', POLLED);
    const onEvent = { type: 'event', properties: { ...ON_DESK, where: "eventType = 'CREATED'" }, onSuccess: ['get'] };
    const read = { elementInstanceId: `\${config.desk}`, method: 'GET', api: `/incident/\${trigger.event.objectId}` };
    const instanceId = await createFormula(
      {
        configuration: [DESK],
        triggers: [onEvent],
        steps: [{ name: 'get', type: 'elementRequest', properties: read }],
      },
      { desk: id },
    );
    await untilRun(service, id, { runs: 1, resource: 'incident' });
    const created = await createIncident(token);
    const [execution] = await untilExecutions(instanceId, 1);
    expect(execution?.status).to.equal('success');
    const trigger = await valuesOf(execution?.id ?? 0, 'trigger');
    expect(trigger).to.include({ 'trigger.type': 'event', 'trigger.instanceId': String(id) });
    expect(JSON.parse(trigger['trigger.event'] ?? '')).to.include({
      elementKey: 'servicenow',
      eventType: 'CREATED',
      objectId: created.sys_id,
      objectType: 'incident',
    });
    const got = await valuesOf(execution?.id ?? 0, 'get');
    expect(got).to.include({ 'get.response.code': '200' });
    expect(JSON.parse(got['get.response.body'] ?? '')).to.include({ short_description: 'Broken' });
    expect(await get(`/formulas/instances/${instanceId}/executions`)).to.have.lengthOf(1);
    await change('DELETE', `/instances/${id}`);
  });

  it('begin with a test event, also where only a formula listens', async () => {
    const { id } = await service.createInstance('servicenow', SERVICENOW);
    const send = (type: string) => service.send('POST', '/events/test', { instanceId: id, type });
    const onEvent = { type: 'event', properties: { ...ON_DESK, objectTypes: 'incident' }, onSuccess: ['end'] };
    const instanceId = await createFormula({ configuration: [DESK], triggers: [onEvent], steps: [END] }, { desk: id });
    expectProblem(await send('incident.created'), 'CONFLICT', /^Events are off/);
    const configure = (configuration: object) => change('PATCH', `/instances/${id}/configuration`, configuration);
    await configure({ 'event.notification.enabled': true });
    const sent = await send('incident.created');
    expect(bodyOf(sent)).to.have.all.keys('eventId');
    const [execution] = await untilExecutions(instanceId, 1);
    expect(await valuesOf(execution?.id ?? 0, 'trigger')).to.include({ 'trigger.eventId': sent.body.eventId });
    const message = `Nothing receives the events of instance ${id}. Set event.notification.callback.url in its configuration, or activate a formula instance that the type problem.created starts.`;
    expectProblem(await send('problem.created'), 'CONFLICT', message);
    const url = 'http://127.0.0.1:9/formulas';
    await configure({ 'event.notification.callback.url': url });
    const delivered = bodyOf(await send('incident.created'));
    expect(delivered).to.have.all.keys('eventId', 'subscriptionId', 'config');
    const subscription = `/notifications/subscriptions/${delivered.subscriptionId}`;
    await change('PATCH', subscription, { eventTypes: ['problem.created'] });
    expect(bodyOf(await send('incident.created'))).to.have.all.keys('eventId');
    expectProblem(await send('change.created'), 'CONFLICT', /does not receive events of the type change.created/);
    expect(await untilExecutions(instanceId, 3)).to.have.lengthOf(3);
  });

  it('begin after a successful request of the method and path, by anybody but themselves', async () => {
    const { id, token } = await service.createInstance('servicenow', SERVICENOW);
    const properties = { ...ON_DESK, method: 'POST', api: '/hubs/helpdesk/incident' };
    const again = {
      elementInstanceId: `\${config.desk}`,
      method: 'POST',
      api: '/incident',
      body: { short_description: 'Copy', caller_id: `\${trigger.response.body.caller_id}` },
    };
    const instanceId = await createFormula(
      {
        configuration: [DESK],
        triggers: [{ type: 'elementRequest', properties, onSuccess: ['again'] }],
        steps: [{ name: 'again', type: 'elementRequest', properties: again, onSuccess: ['end'] }, END],
      },
      { desk: id },
    );
    const created = await createIncident(token);
    const [execution] = await untilExecutions(instanceId, 1);
    expect(execution?.status).to.equal('success');
    const trigger = await valuesOf(execution?.id ?? 0, 'trigger');
    expect(trigger).to.include({
      'trigger.type': 'request',
      'trigger.request.path': '/incident',
      'trigger.response.code': '200',
    });
    expect(JSON.parse(trigger['trigger.response.body'] ?? '')).to.include({ sys_id: created.sys_id });
    expect(trigger['trigger.request.headers']).to.not.include(token);
    // Its own request has had its time to start it.
    const refused = await service.send('POST', '/incident', { unknown_field: 1 }, { token });
    expect(refused.status).to.equal(400);
    await createIncident(token);
    expect(await untilExecutions(instanceId, 2)).to.have.lengthOf(2);
  });

  it('are stored before the response of their request is sent, and once for a repeated request', async () => {
    const { id, token } = await service.createInstance('servicenow', SERVICENOW);
    const properties = { ...ON_DESK, method: 'POST', api: '/incident' };
    const instanceId = await createFormula(
      { configuration: [DESK], triggers: [{ type: 'elementRequest', properties, onSuccess: ['end'] }], steps: [END] },
      { desk: id },
    );
    const [{ caller_id }] = await service.get('/incident', { token, query: { pageSize: '1' } });
    const headers = { 'Idempotency-Key': 'stored-before' };
    const create = () =>
      service.send('POST', '/incident', { short_description: 'Broken', caller_id }, { token, headers });
    let hasResponse = false;
    const responded = await withDatabase(service, (knex) =>
      knex.transaction(async (via) => {
        await via.raw('lock table formula_execution in share row exclusive mode');
        const sent = create().finally(() => {
          hasResponse = true;
        });
        await until(async () => {
          const { rows } = await knex.raw(
            "select from pg_locks where relation = 'formula_execution'::regclass and not granted",
          );
          return rows.length > 0;
        });
        // Another request has its response meanwhile.
        await service.get('/incident', { token, query: { pageSize: '1' } });
        expect(hasResponse).to.equal(false);
        return { sent };
      }),
    );
    const first = bodyOf(await responded.sent);
    const stored = await withDatabase(service, (knex) =>
      knex('formula_execution').where({ formula_instance_id: instanceId }),
    );
    expect(stored).to.have.lengthOf(1);
    expect(bodyOf(await create())).to.deep.equal(first);
    expect(await untilExecutions(instanceId, 1)).to.have.lengthOf(1);
  });

  it('begin by hand, with one execution for each event of a notification', async () => {
    const { id } = await service.createInstance('servicenow', SERVICENOW);
    const instanceId = await createFormula(
      { configuration: [DESK], triggers: [{ type: 'event', properties: ON_DESK, onSuccess: ['end'] }], steps: [END] },
      { desk: id },
    );
    const events = ['1', '2', '3'].map((objectId) => ({ objectId, objectType: 'incident', eventType: 'UPDATED' }));
    const path = `/formulas/instances/${instanceId}/executions`;
    expect(await change('POST', path, { message: { instance_id: id, events, raw: {} } })).to.have.lengthOf(3);
    const found = await untilExecutions(instanceId, 3);
    expect(found.map(({ status }) => status)).to.deep.equal(['success', 'success', 'success']);
    expectProblem(await service.send('POST', path, {}), 'REQUEST_INVALID', /"events"/);
  });

  it('have the body as their arguments, whatever JSON it is', async () => {
    const instanceId = await createFormula({
      triggers: [{ type: 'manual', onSuccess: ['end'] }],
      steps: [{ ...END, properties: { body: 'done({ seen: trigger.args, type: typeof trigger.args });' } }],
    });
    const seen: Record<string, readonly (string | undefined)[]> = {};
    const bodies = ['{"a":[null]}', '[]', '[1,{"b":null},null]', '"text"', '"7"', '""', '7', '-1.5e3', 'true', 'false'];
    for (const body of [...bodies, 'null', '{}']) {
      const [{ id }] = await change('POST', `/formulas/instances/${instanceId}/executions`, body);
      await until(async () => (await get(`/formulas/instances/executions/${id}`)).status === 'success');
      const [trigger, end] = [await valuesOf(id, 'trigger'), await valuesOf(id, 'end')];
      seen[body] = [trigger['trigger.args'], end['end.seen'], end['end.type']];
    }
    expect(seen).to.deep.equal({
      '{"a":[null]}': ['{"a":[null]}', '{"a":[null]}', 'object'],
      '[]': ['[]', '[]', 'object'],
      '[1,{"b":null},null]': ['[1,{"b":null},null]', '[1,{"b":null},null]', 'object'],
      '"text"': ['"text"', 'text', 'string'],
      '"7"': ['"7"', '7', 'string'],
      '""': ['""', '', 'string'],
      '7': ['7', '7', 'number'],
      '-1.5e3': ['-1500', '-1500', 'number'],
      true: ['true', 'true', 'boolean'],
      false: ['false', 'false', 'boolean'],
      null: ['null', 'null', 'object'],
      '{}': ['{}', '{}', 'object'],
    });
    const [{ id }] = await change('POST', `/formulas/instances/${instanceId}/executions`);
    await until(async () => (await get(`/formulas/instances/executions/${id}`)).status === 'success');
    expect(await valuesOf(id, 'trigger')).to.deep.equal({ 'trigger.args': '{}' });
  });

  it('say of each step whether it made them fail', async () => {
    const script = (name: string, body: string, more: object) => ({
      name,
      type: 'script',
      properties: { body },
      ...more,
    });
    const instanceId = await createFormula({
      triggers: [{ type: 'manual', onSuccess: ['no'] }],
      steps: [
        { ...script('no', 'done(false);', { onFailure: ['each'] }), type: 'filter' },
        {
          name: 'each',
          type: 'loop',
          properties: { list: `\${trigger.args}` },
          onSuccess: ['in'],
          onFailure: ['bad'],
        },
        script('in', 'done();', { onSuccess: ['each'] }),
        script('bad', "throw('No'); done();", { onFailure: ['after'] }),
        script('after', 'done();', {}),
      ],
    });
    const [{ id }] = await change('POST', `/formulas/instances/${instanceId}/executions`, [1]);
    await untilExecutions(instanceId, 1);
    type Shown = { readonly id: number; readonly stepName: string; readonly status: string; readonly fault: boolean };
    const shown = (steps: readonly Shown[]) => steps.map(({ stepName, status, fault }) => [stepName, status, fault]);
    const path = `/formulas/instances/executions/${id}`;
    const { stepExecutions } = await get(path);
    expect(shown(stepExecutions)).to.deep.equal([
      ['trigger', 'success', false],
      ['no', 'failed', false],
      ['each', 'success', false],
      ['in', 'success', false],
      ['each', 'failed', false],
      ['bad', 'failed', true],
      ['after', 'success', false],
    ]);
    expect(shown(await get(`${path}/steps`))).to.deep.equal(shown(stepExecutions));
    expect(shown(await get(`${path}/errors`))).to.deep.equal([['bad', 'failed', true]]);
    const [, no] = stepExecutions;
    expect((await get(`/formulas/instances/executions/steps/${no.id}`)).fault).to.equal(false);
  });

  it('are counted, paged and kept from other formulas', async () => {
    const instanceId = await createFormula({ triggers: [{ type: 'manual', onSuccess: ['end'] }], steps: [END] });
    const path = `/formulas/instances/${instanceId}/executions`;
    for (let n = 0; n < 3; n++) await change('POST', path, { n });
    await untilExecutions(instanceId, 3);
    const first = await service.call(path, { query: { pageSize: '2' } });
    expect([first.headers.get('elements-total-count'), first.headers.get('elements-returned-count')]).to.deep.equal([
      '3',
      '2',
    ]);
    const nextPage = first.headers.get('elements-next-page-token') ?? '';
    const second = await service.call(path, { query: { pageSize: '2', nextPage } });
    expect(second.body).to.have.lengthOf(1);
    expect(second.headers.get('elements-next-page-token')).to.equal(null);
    expectProblem(await service.call(`/formulas/999999/instances/${instanceId}/executions`), 'NOT_FOUND');
    const [{ id: executionId }] = first.body;
    expectProblem(
      await service.send('PATCH', `/formulas/instances/executions/${executionId}`, { status: 'cancelled' }),
      'CONFLICT',
      /it is success/,
    );
    expectProblem(
      await service.send('PATCH', `/formulas/instances/executions/${executionId}`, { status: 'success' }),
      'REQUEST_INVALID',
    );
    const again = await change('PUT', `/formulas/instances/executions/${executionId}/retries`, {});
    expect(again.id).to.be.greaterThan(executionId);
  });

  it('begin by the clock', async () => {
    const instanceId = await createFormula({
      triggers: [{ type: 'scheduled', properties: { cron: '0 0 0 1 1 ? *' }, onSuccess: ['end'] }],
      steps: [END],
    });
    const dueOf = async (): Promise<Date> => {
      const row = await withDatabase(service, (knex) => knex('formula_instance').where({ id: instanceId }).first());
      if (row?.next_due == null) throw new Error('The formula instance has no schedule.');
      return row.next_due;
    };
    const planned = await dueOf();
    // A time that does not come during the test.
    expect([planned.getUTCMonth(), planned.getUTCDate(), planned.getUTCHours()]).to.deep.equal([0, 1, 0]);
    // It was due ten minutes ago.
    await updateRows(service, 'formula_instance', { id: instanceId }, { next_due: new Date(Date.now() - 600_000) });
    // A change of any formula lets the scheduler look.
    await createFormula({ triggers: [{ type: 'manual', onSuccess: ['end'] }], steps: [END] });
    const [execution] = await untilExecutions(instanceId, 1);
    expect(execution?.status).to.equal('success');
    expect(await valuesOf(execution?.id ?? 0, 'trigger')).to.deep.equal({ 'trigger.type': 'scheduled' });
    expect(await dueOf()).to.deep.equal(planned);
    expect(await get(`/formulas/instances/${instanceId}/executions`)).to.have.lengthOf(1);
  });
});
