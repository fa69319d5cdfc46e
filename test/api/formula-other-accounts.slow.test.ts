import { expect } from 'chai';
import { type ApiAnswer, pluck, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';
import { authorizationOf, createUser, type Tenant, useTenants } from './support/tenants.ts';

const SERVICENOW = { username: 'admin', password: 'demo-password', 'company.name': 'demo', simulator: true };
const DESK = { key: 'desk', type: 'elementInstance', required: true };
const ON_DESK = { elementInstanceId: `\${config.desk}` };
const LIST = {
  name: 'list',
  type: 'elementRequest',
  properties: { ...ON_DESK, method: 'GET', api: '/incident', query: { pageSize: '1' } },
};

describe('a formula instance that names an element instance of another account', function ofOthers() {
  this.timeout(60_000);
  const service = useApp();
  const tenants = useTenants(service);
  let owner: Tenant & { readonly id: number };
  let desk: { readonly id: number; readonly token: string };

  const ok = (answer: ApiAnswer) => {
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  };
  const send = (tenant: Tenant, method: string, path: string, body?: unknown) =>
    service.send(method, path, body, { headers: authorizationOf(tenant) });

  before(async () => {
    const name = 'owner';
    owner = await createUser(service, { accountId: service.accountId, name, role: 'org-admin' });
    const configuration = { ...SERVICENOW, 'event.notification.enabled': true };
    const body = { element: { key: 'servicenow' }, name: 'Desk', configuration };
    desk = ok(await send(tenants.sibling, 'POST', '/instances', body));
  });

  async function createFormula(tenant: Tenant, trigger: object, configuration: object = { desk: desk.id }) {
    const triggers = [{ onSuccess: ['list'], ...trigger }];
    const formula = ok(
      await send(tenant, 'POST', '/formulas', { name: 'f', configuration: [DESK], triggers, steps: [LIST] }),
    );
    return send(tenant, 'POST', `/formulas/${formula.id}/instances`, { name: 'one', configuration });
  }
  async function untilEnds(tenant: Tenant, instanceId: number, count: number): Promise<readonly string[]> {
    let statuses: readonly string[] = [];
    await until(async () => {
      const found = ok(await send(tenant, 'GET', `/formulas/instances/${instanceId}/executions`));
      statuses = pluck(found, 'status');
      return statuses.length >= count && !statuses.includes('pending');
    });
    return statuses;
  }
  const sendEvent = () =>
    send(tenants.sibling, 'POST', '/events/test', { instanceId: desk.id, type: 'incident.created' });
  async function createIncident() {
    const [{ caller_id }] = ok(
      await tenants.sibling.call('/incident', { query: { pageSize: '1' }, token: desk.token }),
    );
    const body = { short_description: 'Broken', caller_id };
    return ok(await tenants.sibling.send('POST', '/incident', body, { token: desk.token }));
  }

  it('is started by its events and requests, and its steps call it, while its owner administers the organization', async () => {
    const manual = ok(await createFormula(owner, { type: 'manual' }));
    const ofEvents = ok(await createFormula(owner, { type: 'event', properties: ON_DESK }));
    const properties = { ...ON_DESK, method: 'POST', api: '/incident' };
    const ofRequests = ok(await createFormula(owner, { type: 'elementRequest', properties }));
    const cron = '0 0/15 * * * ?';
    const scheduled = ok(await createFormula(owner, { type: 'scheduled', properties: { cron } }));
    for (const { id } of [manual, scheduled]) ok(await send(owner, 'POST', `/formulas/instances/${id}/executions`, {}));
    ok(await sendEvent());
    await createIncident();
    for (const { id } of [manual, scheduled, ofEvents, ofRequests])
      expect(await untilEnds(owner, id, 1)).to.deep.equal(['success']);

    // The other account knows nothing of it.
    expectProblem(await send(tenants.sibling, 'GET', `/formulas/instances/${ofEvents.id}`), 'NOT_FOUND');
    ok(
      await send(owner, 'PUT', `/formulas/${ofEvents.formula.id}/instances/${ofEvents.id}`, {
        name: 'one',
        configuration: { desk: desk.id },
        active: false,
      }),
    );
    expectProblem(await sendEvent(), 'CONFLICT', /^Nothing receives/);
    ok(await send(owner, 'PUT', `/formulas/${ofEvents.formula.id}/instances/${ofEvents.id}/active`));
    ok(await sendEvent());
    expect(await untilEnds(owner, ofEvents.id, 2)).to.deep.equal(['success', 'success']);

    ok(await service.send('PUT', `/users/${owner.id}/roles/admin`));
    ok(await service.send('DELETE', `/users/${owner.id}/roles/org-admin`));
    expectProblem(await sendEvent(), 'CONFLICT', /^Nothing receives/);
    await createIncident();
    ok(await send(owner, 'POST', `/formulas/instances/${manual.id}/executions`, {}));
    expect(await untilEnds(owner, manual.id, 2)).to.deep.equal(['failed', 'success']);
    for (const [{ id }, count] of [
      [ofEvents, 2],
      [ofRequests, 1],
    ] as const)
      expect(await untilEnds(owner, id, count)).to.have.lengthOf(count);
    ok(await service.send('PUT', `/users/${owner.id}/roles/org-admin`));

    ok(await send(owner, 'DELETE', `/formulas/instances/${ofEvents.id}`));
    expectProblem(await sendEvent(), 'CONFLICT', /^Nothing receives/);
  });

  it('is refused to others, and never started in another organization', async () => {
    const refused = await createFormula(tenants.colleague, { type: 'event', properties: ON_DESK });
    expect(refused.body.details).to.deep.equal([
      {
        path: '/body/configuration/desk',
        message: `body.configuration.desk must be the id of an element instance of the account; '${desk.id}' is none.`,
      },
    ]);
    // A trigger may name any id.
    const own = ok(
      await send(tenants.stranger, 'POST', '/instances', {
        element: { key: 'servicenow' },
        name: 'Own',
        configuration: SERVICENOW,
      }),
    );
    const properties = { elementInstanceId: String(desk.id) };
    for (const tenant of [tenants.stranger, tenants.colleague]) {
      const configuration = tenant === tenants.stranger ? { desk: own.id } : undefined;
      const formula = {
        name: 'literal',
        triggers: [{ type: 'event', properties, onSuccess: ['end'] }],
        steps: [{ name: 'end', type: 'script', properties: { body: 'done();' } }],
      };
      const { id } = ok(await send(tenant, 'POST', '/formulas', formula));
      ok(await send(tenant, 'POST', `/formulas/${id}/instances`, { name: 'one', configuration }));
    }
    expectProblem(await sendEvent(), 'CONFLICT', /^Nothing receives/);
  });
});
