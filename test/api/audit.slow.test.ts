import { expect } from 'chai';
import type { Knex } from 'knex';
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import { ACCESS } from '../../src/api/access.ts';
import type { ApiOperationId } from '../../src/api/operation.ts';
import { BASE_PATH } from '../../src/api/server.ts';
import { type ApiAnswer, useApp } from '../support/app.ts';
import { type AuditedCall, callOf, createAuditedCalls, prepared } from './support/audited-calls.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';
import { authorizationOf, createTenants, type OtherTenants, withDatabase } from './support/tenants.ts';

/** Operations that change nothing of ours, or nothing that the audit log is about, although they are no GET. */
const NO_AUDIT: Readonly<Partial<Record<OperationId, string>>> = {
  beginOAuth: 'what it keeps is for the next call of the same caller, and for minutes',
  authorizeConnectPage: 'as beginOAuth, for whoever has the key of the page',
  explainQuery: 'it only reads',
  sendTestEvent: 'an event as those of providers, which deliveries tell of',
  createRecord: 'a record of a provider: activity',
  createHubRecord: 'a record of a provider: activity',
  updateRecord: 'a record of a provider: activity',
  updateHubRecord: 'a record of a provider: activity',
  replaceRecord: 'a record of a provider: activity',
  replaceHubRecord: 'a record of a provider: activity',
  deleteRecord: 'a record of a provider: activity',
  deleteHubRecord: 'a record of a provider: activity',
  createBulkQuery: 'rows of a provider are read: activity',
  createHubBulkQuery: 'rows of a provider are read: activity',
  createBulkUpload: 'records of a provider: activity',
  createHubBulkUpload: 'records of a provider: activity',
  cancelBulkJob: 'work on records of a provider: activity',
  cancelHubBulkJob: 'work on records of a provider: activity',
  deleteBulkJob: 'a copy of records that is kept for days: activity',
  deleteHubBulkJob: 'a copy of records that is kept for days: activity',
  passPost: 'a request to a provider: activity',
  passPut: 'a request to a provider: activity',
  passPatch: 'a request to a provider: activity',
  passDelete: 'a request to a provider: activity',
  receiveProviderEvents: 'a provider sends it, and no caller',
};

/** What a change is not: what is kept and counted of the request, of who may do what for a while, and the log itself. */
const NOT_CHANGED =
  /^(?:audit_log|activity|usage_|idempotency_record|schema_migration|event_owner|oauth_authorization|oauth_code|connect_authorization)/;

const audited = (Object.keys(ACCESS) as ApiOperationId[]).filter((id) => ACCESS[id].audit !== undefined);

describe('the audit log', function auditLog() {
  this.timeout(60_000);
  const service = useApp({ SIMULATORS_PORT: '0', ROLE: 'api' });
  const calls = createAuditedCalls(service);
  let tenants: OtherTenants;

  before(async () => {
    tenants = await createTenants(service);
  });

  function callFor(id: ApiOperationId): AuditedCall {
    const call = calls[id];
    if (call === undefined)
      throw new Error(`${id} is audited: test/api/support/audited-calls.ts must say how it is done once.`);
    return call;
  }

  const rowsOf = ({ headers }: ApiAnswer) =>
    withDatabase(service, (knex) => knex('audit_log').where({ request_id: headers.get('elements-request-id') ?? '' }));

  const rowsOfNow = () => withDatabase(service, (knex) => knex('audit_log').orderBy('id'));

  it('knows every operation that is no GET: it is audited, or says why not', () => {
    const silent = (Object.keys(OPERATIONS) as OperationId[]).filter((id) => {
      const access = id in ACCESS ? ACCESS[id as ApiOperationId] : {};
      return OPERATIONS[id].method !== 'get' && access.audit === undefined;
    });
    expect(silent.toSorted()).to.deep.equal(Object.keys(NO_AUDIT).toSorted());
  });

  for (const id of audited) {
    it(`has one row of ${id} that is done`, async () => {
      const { action, target, id: idParam } = ACCESS[id].audit ?? {};
      const call = callFor(id);
      const given = await prepared(call);
      const answer = await service.call(call.path(given), callOf(call, given));
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      const rows = await rowsOf(answer);
      expect(rows).to.have.length(1);
      const hasId = idParam === 'id' && given.id !== 0 && OPERATIONS[id].path.includes('{id}');
      expect(rows[0]).to.deep.include({
        action,
        target,
        ...(hasId && { target_id: String(given.id) }),
        organization_id: 1,
        account_id: 1,
        user_id: 1,
        method: callOf(call, given).method ?? 'GET',
        resource_uri: BASE_PATH + call.path(given),
        ip_address: '127.0.0.1',
        status: 200,
        ...call.row?.(given, answer.body),
      });
    });
  }

  for (const id of audited) {
    it(`changes nothing by ${id} when its row cannot be written`, async () => {
      const call = callFor(id);
      const given = await prepared(call);
      const before = await dump();
      await refuseRows(true);
      const answer = await service.call(call.path(given), callOf(call, given));
      await refuseRows(false);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(500);
      expect(await rowsOf(answer)).to.deep.equal([]);
      expect(await dump()).to.deep.equal(before);
      expect(JSON.stringify(answer.body)).not.to.include('whsec_');
      // And would have changed something.
      expect((await service.call(call.path(given), callOf(call, given))).status).to.equal(200);
      if (ACCESS[id].audit?.action !== 'show') expect(await dump()).not.to.deep.equal(before);
    });
  }

  it('tells of a failed change that it failed, and not that anything was changed', async () => {
    const { id } = await service.createInstance('odata', SHOP);
    const failures: readonly (readonly [number, string, object])[] = [
      [404, '/instances/987654', { method: 'DELETE' }],
      [404, '/instances/987654/enabled', { method: 'PUT' }],
      [400, `/instances/${id}/configuration`, { method: 'PATCH', body: { nope: 1 } }],
      [404, '/notifications/subscriptions/987654', { method: 'PATCH', body: { rotateSecret: true } }],
      [404, '/notifications/subscriptions/deliveries/987654', { method: 'DELETE' }],
      [404, '/elements/oauthProxies/987654', { method: 'PATCH', body: { name: 'x' } }],
      [404, `/instances/${id}/polls/nope/run`, { method: 'POST' }],
      [400, '/accounts/settings', { method: 'PATCH', body: { nope: 1 } }],
      [400, '/instances', { method: 'POST', body: { element: { key: 'odata' }, name: 'x', configuration: {} } }],
    ];
    for (const [status, path, call] of failures) {
      const answer = await service.call(path, call);
      expect(answer.status, path).to.equal(status);
      const rows = await rowsOf(answer);
      expect(
        rows.map((row) => [row.status, row.changes]),
        path,
      ).to.deep.equal([[status, null]]);
    }
  });

  it('tells of a refusal, whatever it was of', async () => {
    await withDatabase(service, (knex) =>
      knex.raw(
        `insert into role_privileges (organization_id, role, privileges) values (1, 'admin', '{viewAccountLogs}')`,
      ),
    );
    const headers = authorizationOf(tenants.colleague);
    // Nobody has asked before: what is known of callers is forgotten by a notice that the administration gives.
    const looking = await service.call('/elements', { headers });
    const changing = await service.call('/instances/12%00345', { method: 'DELETE', headers });
    expectProblem(looking, 'FORBIDDEN');
    expectProblem(changing, 'FORBIDDEN');
    expect((await rowsOf(looking))[0]).to.deep.include({
      status: 403,
      action: 'view',
      target: 'elements',
      account_id: 1,
    });
    expect((await rowsOf(changing))[0]).to.deep.include({ status: 403, action: 'delete', target_id: '12�345' });
    await withDatabase(service, (knex) => knex('role_privileges').delete());
  });

  it('says what was changed, from what and to what, with masks for secrets', async () => {
    const configuration = {
      ...SHOP,
      'base.url': 'https://shop.example.com/odata/v4/private',
      username: 'demo',
      password: 'demo-password',
    };
    const { id } = await service.createInstance('odata', configuration, { name: 'Before', tags: ['a'] });
    const changed = await service.call(`/instances/${id}`, {
      method: 'PATCH',
      body: {
        name: 'After',
        tags: ['a', 'b'],
        configuration: { 'event.notification.signature.key': 'key-to-sign-with' },
      },
    });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    const [row] = await rowsOf(changed);
    expect(row?.changes).to.deep.equal({
      name: { from: 'Before', to: 'After' },
      tags: { from: ['a'], to: ['a', 'b'] },
      'configuration.event.notification.signature.key': { to: '********' },
    });
    const disabled = await service.call(`/instances/${id}/enabled`, { method: 'DELETE' });
    expect((await rowsOf(disabled))[0]?.changes).to.deep.equal({ disabled: { from: false, to: true } });
    const settings = { 'notification.webhook.retry.count': 9 };
    await service.call('/accounts/settings', { method: 'POST', body: {} });
    const set = await service.call('/accounts/settings', { method: 'PATCH', body: settings });
    expect((await rowsOf(set))[0]?.changes).to.deep.equal({ 'notification.webhook.retry.count': { from: 5, to: 9 } });
  });

  it('calls the rotation of a signing secret a rotation, also where more is changed by the same request', async () => {
    const call = callFor('updateSubscription');
    const { id } = await prepared(call);
    const body = { rotateSecret: true, eventTypes: ['orders.*'], state: 'deactivated' };
    const rotated = await service.call(`/notifications/subscriptions/${id}`, { method: 'PATCH', body });
    const rows = await rowsOf(rotated);
    expect(rows.map(({ action, changes }) => ({ action, changes }))).to.deep.equal([
      {
        action: 'rotate',
        changes: {
          eventTypes: { from: ['*'], to: ['orders.*'] },
          secret: { from: '********', to: '********' },
          state: { from: 'active', to: 'deactivated' },
        },
      },
    ]);
  });

  it('names the account that was changed, and the user who is of another one', async () => {
    const headers = { 'elements-account-id': 'Siblings' };
    const body = { 'notification.webhook.retry.count': 9 };
    const answer = await service.call('/accounts/settings', { method: 'PATCH', body, headers });
    expect(answer.status).to.equal(200);
    expect((await rowsOf(answer))[0]).to.deep.include({
      account_id: tenants.sibling.accountId,
      user_id: 1,
      status: 200,
    });
  });

  it('has no second row of a request that is repeated with its Idempotency-Key', async () => {
    const send = () =>
      service.call('/instances', {
        method: 'POST',
        body: { element: { key: 'odata' }, name: 'Once', configuration: SHOP },
        headers: { 'idempotency-key': 'once' },
      });
    const first = await send();
    const before = (await rowsOfNow()).length;
    const second = await send();
    expect(second.body).to.deep.equal(first.body);
    expect((await rowsOfNow()).length).to.equal(before);
  });

  /** Raises for every row, as a full disk would. */
  async function refuseRows(isRefused: boolean): Promise<void> {
    await withDatabase(service, async (knex) => {
      await knex.raw(`create or replace function refuse_row() returns trigger language plpgsql as
        $$ begin raise exception 'no room for a row of the audit log'; end $$`);
      await knex.raw(
        isRefused
          ? 'create trigger refuse_row before insert on audit_log for each row execute function refuse_row()'
          : 'drop trigger refuse_row on audit_log',
      );
    });
  }

  /** Every row of every table that a change may be in. */
  function dump(): Promise<Readonly<Record<string, readonly string[]>>> {
    return withDatabase(service, async (knex) => {
      const tables: string[] = await knex('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
      const looked = tables.filter((name) => !NOT_CHANGED.test(name)).toSorted();
      return Object.fromEntries(await Promise.all(looked.map(async (name) => [name, await readRows(knex, name)])));
    });
  }

  async function readRows(knex: Knex, table: string): Promise<readonly string[]> {
    // That a session is used is no change of it.
    const { rows } = await knex.raw(`select (to_jsonb(t) - 'used_at')::text as text from ${table} t order by 1`);
    return rows.map(({ text }: { readonly text: string }) => text);
  }
});
