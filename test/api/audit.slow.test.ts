import { expect } from 'chai';
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import { ACCESS } from '../../src/api/access.ts';
import type { ApiOperationId } from '../../src/api/operation.ts';
import { BASE_PATH } from '../../src/api/server.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { type ApiAnswer, pluck, useApp } from '../support/app.ts';
import { silentLog } from '../support/database.ts';
import { isDistributedRun } from '../support/nodes.ts';
import { RECIPES, type Recipe, type RecipeRequest, requestOf } from './support/access-recipes.ts';
import { expectProblem } from './support/expect-problem.ts';
import { prepareMappings, readOperation } from './support/mappings.ts';
import { fillFirstPlace, type Place, type Thing, unique } from './support/places.ts';
import { SHOP } from './support/simulated.ts';
import { useTenants } from './support/tenants.ts';

/** Operations that change nothing of ours, or nothing that the audit log is about, although they are no GET. */
const NO_AUDIT: Readonly<Partial<Record<OperationId, string>>> = {
  beginOAuth: 'what it keeps is for the next call of the same caller, and for minutes',
  authorizeConnectPage: 'as beginOAuth, for whoever has the key of the page',
  explainQuery: 'it only reads',
  executeTransformation: 'it only reads',
  sendTestEvent: 'an event as those of providers, which deliveries tell of',
  testSubscription: 'as sendTestEvent',
  showInvitation: 'it looks, and shows no secret',
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
  startFormulaExecutions: 'work between providers: activity',
  startExecutionsOfFormulaInstance: 'as startFormulaExecutions',
  cancelFormulaExecution: 'as startFormulaExecutions',
  retryFormulaExecution: 'as startFormulaExecutions',
  forgetFormulaRetry: 'as startFormulaExecutions',
  passPost: 'a request to a provider: activity',
  passPut: 'a request to a provider: activity',
  passPatch: 'a request to a provider: activity',
  passDelete: 'a request to a provider: activity',
  receiveProviderEvents: 'a provider sends it, and no caller',
  callAgentTools: 'its tools send the requests that are audited',
};

/** What a change is not: what is kept and counted of the request, of who may do what for a while, and the log itself. */
const NOT_CHANGED =
  /^(?:audit_log|activity|instance_call|usage_|idempotency_record|schema_migration|event_owner|oauth_authorization|oauth_code|connect_authorization)/;

const audited = (Object.keys(ACCESS) as ApiOperationId[]).filter((id) => ACCESS[id].audit !== undefined);
/** On a distributed database some of them are tried, because each changes and reads all tables on all nodes. */
const tried = audited.filter((_, index) => !isDistributedRun || index % 10 === 0);

interface AuditedRecipe extends Recipe {
  /** Done first, to the same thing. */
  readonly after?: ApiOperationId;
  /** What authenticates the request, from the answer of what was done first. */
  readonly sends?: (first: ApiAnswer) => Readonly<Record<string, string>>;
  /** Its body, from the same answer. */
  readonly tells?: (first: ApiAnswer) => object;
}

const BOX = { path: { keyOrId: 'box' } };
const SPARE_INSTANCE = { of: 'spareInstance' } as const;
const SPARE_DELIVERY = { of: 'spareDelivery', query: { where: "channel = 'webhook' AND status = 'queued'" } } as const;
const ACCOUNT_ADMIN = { of: 'spareAccount', path: ({ id }: Thing) => ({ id: String(id), key: 'admin' }) } as const;
const OBJECTS = { ...SPARE_INSTANCE, path: { configId: 'event.objects' }, body: () => ({ propertyValue: 'Orders' }) };
const CONFIGURATION = { ...SPARE_INSTANCE, body: () => ({ 'event.objects': 'Orders' }) };
let turns = 0;
/** Each time what it was not before. */
const SETTINGS = {
  body: () => ({
    'notification.webhook.failure.policy': 'queue',
    'notification.webhook.retry.count': turns++ % 2 === 0 ? 9 : 5,
  }),
};
const sendsKey = ({ body: { url } }: ApiAnswer) => ({
  authorization: `Connect ${url.slice(url.lastIndexOf('/') + 1)}`,
});

/** Where the request of the matrix of access changes nothing, or the page of a connect session asks. */
const OTHER_RECIPES: Readonly<Partial<Record<ApiOperationId, AuditedRecipe>>> = {
  // The objects of the other instance are watched already.
  watchSchema: { ...SPARE_INSTANCE, path: { objectName: 'Orders' } },
  // The user of the key is the one who sends it.
  rotateAccessKey: { of: 'spareAccessKey', body: () => ({}) },
  grantAccountRole: ACCOUNT_ADMIN,
  revokeAccountRole: { ...ACCOUNT_ADMIN, after: 'grantAccountRole' },
  grantUserRole: { of: 'spareUser', path: ({ id }) => ({ emailOrId: String(id), key: 'admin' }) },
  replaceRole: {
    path: { key: 'default-user' },
    body: () => ({ privileges: [turns++ % 2 === 0 ? 'viewElements' : 'viewFormulas'] }),
  },
  activateElement: { ...BOX, after: 'deactivateElement' },
  deactivateElement: { ...BOX, after: 'activateElement' },
  setOwnAccountSettings: SETTINGS,
  updateOwnAccountSettings: SETTINGS,
  setAccountSettings: SETTINGS,
  updateAccountSettings: SETTINGS,
  setConnectOrigins: { body: () => ({ origins: [`https://${unique('app')}.example.com`] }) },
  setConnectBranding: { body: () => ({ name: unique('Product') }) },
  acceptInvitation: {
    after: 'createInvitation',
    sends: () => ({ authorization: '' }),
    tells: ({ body: { url } }) => ({
      token: url.slice(url.lastIndexOf('#') + 1),
      firstName: 'Grace',
      lastName: 'Hopper',
      password: 'violet anchor drifts past noon',
    }),
  },
  completeConnectPage: {
    after: 'createConnectSession',
    sends: sendsKey,
    body: () => ({ elementKey: 'odata', configuration: {} }),
  },
  cancelConnectPage: { after: 'createConnectSession', sends: sendsKey },
  deleteConsoleSession: {
    after: 'createConsoleSession',
    sends: ({ headers, body }) => ({
      authorization: '',
      cookie: headers.get('set-cookie')?.split(';')[0] ?? '',
      'x-csrf-token': body.csrfToken,
    }),
  },
  createFormulaTrigger: {
    of: 'spareFormula',
    after: 'deleteFormulaTrigger',
    body: () => ({ type: 'manual' }),
  },
  updateInstanceConfiguration: CONFIGURATION,
  updateThisInstanceConfiguration: CONFIGURATION,
  updateConfigurationProperty: OBJECTS,
  updateThisConfigurationProperty: OBJECTS,
  enableInstance: { ...SPARE_INSTANCE, after: 'disableInstance' },
  enableThisInstance: { ...SPARE_INSTANCE, after: 'disableThisInstance' },
  endTraceLogging: { ...SPARE_INSTANCE, after: 'startTraceLogging' },
  endThisTraceLogging: { ...SPARE_INSTANCE, after: 'startThisTraceLogging' },
  releaseDeliveries: SPARE_DELIVERY,
  acknowledgeDeliveries: SPARE_DELIVERY,
  redeliverPeriod: {
    of: 'spareDelivery',
    body: () => ({ from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' }),
  },
};

const MAPPING = { vendorName: 'Products', fields: [{ path: 'other', vendorPath: 'Name' }] };

/** Of the operations of mappings that are not of one level. */
const OTHER_MAPPINGS: Readonly<Partial<Record<ApiOperationId, AuditedRecipe>>> = {
  putTransformation: { body: () => ({ objectName: 'audited', elementKey: 'odata', ...MAPPING }) },
  putCommonResource: { body: () => ({ name: unique('made'), fields: [] }) },
  renameCommonResource: { path: { name: 'audited' }, body: () => ({ name: unique('renamed') }) },
  deleteCommonResource: { path: { name: 'audited' } },
  cloneVdr: { path: { id: 'contacts' }, query: { level: 'account' } },
  deleteVdr: { path: { idOrName: 'audited' } },
};

/** What a row says of one request, beside what the table of operations says of all. */
const ROWS: Readonly<Partial<Record<ApiOperationId, (response: ApiAnswer['body'], first?: ApiAnswer) => object>>> = {
  createAccount: ({ id }) => ({ target_id: String(id) }),
  createOrganizationAccount: ({ id }) => ({ target_id: String(id) }),
  createOrganizationUser: ({ id }) => ({ target_id: String(id) }),
  createAccountUser: ({ id }) => ({ target_id: String(id) }),
  createInvitation: ({ id }) => ({ target_id: String(id) }),
  acceptInvitation: ({ userId }) => ({ target_id: String(userId) }),
  createFormula: ({ id }) => ({ target_id: String(id) }),
  createFormulaInstance: ({ id }) => ({ target_id: String(id) }),
  createOAuthProxy: ({ id }) => ({ target_id: String(id) }),
  createInstance: ({ id }) => ({ instance_id: id }),
  createElementInstance: ({ id }) => ({ instance_id: id }),
  completeConnectPage: ({ instanceId }) => ({ instance_id: instanceId }),
  cancelConnectPage: (_, first) => ({ target_id: String(first?.body.id) }),
  releaseDeliveries: ({ reactivated, released }) => ({ changes: { reactivated, released } }),
  acknowledgeDeliveries: ({ acknowledged }) => ({ changes: { acknowledged } }),
};

describe('the audit log', function auditLog() {
  this.timeout(60_000);
  const service = useApp({ ROLE: 'api' });
  const tenants = useTenants(service);
  let own: Place;
  let database: Database;

  before(async () => {
    own = await fillFirstPlace(service, 'own-place');
    database = openDatabase({ url: service.databaseUrl, poolSize: 1, log: silentLog });
  });
  after(() => database.close());

  const ask = ({ path, call }: RecipeRequest) => service.call(path, call);
  const recipeOf = (id: ApiOperationId): AuditedRecipe =>
    OTHER_RECIPES[id] ?? mappingRecipeOf(id) ?? (RECIPES as Readonly<Partial<Record<OperationId, Recipe>>>)[id] ?? {};

  /** Those of mappings change what there is of this name, see `prepareMappings`. */
  function mappingRecipeOf(id: ApiOperationId): AuditedRecipe | undefined {
    const { verb, level, kind } = readOperation(id) ?? {};
    if (verb === undefined) return OTHER_MAPPINGS[id];
    const isOfMany = id.endsWith('s');
    const path = { objectName: 'audited', keyOrId: 'odata' };
    const of = level === 'Instance' ? ({ of: 'instance' } as const) : {};
    if (verb === 'rename') return { ...of, path, body: () => ({ objectName: unique('renamed') }) };
    if (verb === 'delete') return { ...of, path };
    const changed = kind === 'Definition' ? { fields: [{ path: 'other', type: 'string' }] } : MAPPING;
    return { ...of, path, body: () => (isOfMany ? { audited: changed } : changed) };
  }

  /** The request that changes something, which is there now. */
  async function prepare(id: ApiOperationId): Promise<{ readonly request: RecipeRequest; readonly first?: ApiAnswer }> {
    const recipe = recipeOf(id);
    const { of, after, sends, tells } = recipe;
    const by = { place: own, caller: service };
    const instanceId = Number((await own.find('instance')).id);
    await prepareMappings(service.call, id, { instanceId, objectName: 'audited' });
    if (of?.startsWith('spare')) own.take(of);
    const first = after && (await ask(await requestOf(after, recipeOf(after), by)));
    if (first !== undefined) expect(first.status, JSON.stringify(first.body)).to.equal(200);
    const request = await requestOf(id, recipe, by);
    if (first === undefined || sends === undefined) return { request, first };
    const body = tells?.(first) ?? request.call.body;
    return { request: { ...request, call: { ...request.call, headers: sends(first), body } }, first };
  }

  const rowsOf = ({ headers }: ApiAnswer) =>
    database.knex('audit_log').where({ request_id: headers.get('elements-request-id') ?? '' });

  const rowsOfNow = () => database.knex('audit_log').orderBy('id');

  it('knows every operation that is no GET: it is audited, or says why not', () => {
    const silent = (Object.keys(OPERATIONS) as OperationId[]).filter((id) => {
      const access = id in ACCESS ? ACCESS[id as ApiOperationId] : {};
      return OPERATIONS[id].method !== 'get' && access.audit === undefined;
    });
    expect(silent.toSorted()).to.deep.equal(Object.keys(NO_AUDIT).toSorted());
  });

  for (const id of tried) {
    it(`has one row of ${id}, which is not done without it`, async () => {
      const { action, target, id: idParam = '' } = ACCESS[id].audit ?? {};
      const { request, first } = await prepare(id);
      const { path, call, params, thing } = request;
      const before = await dump();
      await refuseRows(true);
      const refused = await ask(request);
      await refuseRows(false);
      expect(refused.status, JSON.stringify(refused.body)).to.equal(500);
      expect(await rowsOf(refused)).to.deep.equal([]);
      expect(await dump()).to.deep.equal(before);
      expect(JSON.stringify(refused.body)).not.to.include('whsec_');

      const response = await ask(request);
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      if (action !== 'show') expect(await dump()).not.to.deep.equal(before);
      const rows = await rowsOf(response);
      expect(rows).to.have.length(1);
      expect(rows[0]).to.deep.include({
        action,
        target,
        ...(OPERATIONS[id].path.includes(`{${idParam}}`) && { target_id: params[idParam] }),
        organization_id: 1,
        account_id: recipeOf(id).of === 'spareAccount' ? thing?.id : 1,
        user_id: 1,
        ...(thing?.token !== undefined && { instance_id: thing.id }),
        method: call.method,
        resource_uri: BASE_PATH + path,
        ip_address: '127.0.0.1',
        status: 200,
        ...ROWS[id]?.(response.body, first),
      });
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
      const response = await service.call(path, call);
      expect(response.status, path).to.equal(status);
      const rows = await rowsOf(response);
      expect(
        rows.map((row) => [row.status, row.changes]),
        path,
      ).to.deep.equal([[status, null]]);
    }
  });

  it('tells of a refusal, whatever it was of', async () => {
    await database.knex.raw(
      `insert into role_privileges (organization_id, role, privileges) values (1, 'admin', '{viewAccountLogs}')`,
    );
    // Nobody has asked before: what is known of callers is forgotten by a notice that the administration gives.
    const looking = await tenants.colleague.call('/elements');
    const changing = await tenants.colleague.send('DELETE', '/instances/12%00345');
    expectProblem(looking, 'FORBIDDEN');
    expectProblem(changing, 'FORBIDDEN');
    expect((await rowsOf(looking))[0]).to.deep.include({
      status: 403,
      action: 'view',
      target: 'elements',
      account_id: 1,
    });
    expect((await rowsOf(changing))[0]).to.deep.include({ status: 403, action: 'delete', target_id: '12�345' });
    await database.knex('role_privileges').delete();
  });

  it('says what was changed, from what and to what, with masks for secrets', async () => {
    const configuration = {
      ...SHOP,
      'base.url': 'https://shop.example.com/odata/v4/private',
      username: 'demo',
      password: 'demo-password',
    };
    const { id } = await service.createInstance('odata', configuration, { name: 'Before', tags: ['a'] });
    const changed = await service.send('PATCH', `/instances/${id}`, {
      name: 'After',
      tags: ['a', 'b'],
      configuration: { 'event.notification.signature.key': 'key-to-sign-with' },
    });
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    const [row] = await rowsOf(changed);
    expect(row?.changes).to.deep.equal({
      name: { from: 'Before', to: 'After' },
      tags: { from: ['a'], to: ['a', 'b'] },
      'configuration.event.notification.signature.key': { to: '********' },
    });
    const disabled = await service.send('DELETE', `/instances/${id}/enabled`);
    expect((await rowsOf(disabled))[0]?.changes).to.deep.equal({ disabled: { from: false, to: true } });
    const settings = { 'notification.webhook.retry.count': 9 };
    await service.send('POST', '/accounts/settings', {});
    const set = await service.send('PATCH', '/accounts/settings', settings);
    expect((await rowsOf(set))[0]?.changes).to.deep.equal({ 'notification.webhook.retry.count': { from: 5, to: 9 } });
  });

  it('calls the rotation of a signing secret a rotation, also where more is changed by the same request', async () => {
    own.take('spareSubscription');
    const { id } = await own.find('spareSubscription');
    const body = { rotateSecret: true, eventTypes: ['orders.*'], state: 'deactivated' };
    const rotated = await service.send('PATCH', `/notifications/subscriptions/${id}`, body);
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
    const response = await service.send('PATCH', '/accounts/settings', body, { headers });
    expect(response.status).to.equal(200);
    expect((await rowsOf(response))[0]).to.deep.include({
      account_id: tenants.sibling.accountId,
      user_id: 1,
      status: 200,
    });
  });

  it('has no second row of a request that is repeated with its Idempotency-Key', async () => {
    const send = () =>
      service.send(
        'POST',
        '/instances',
        { element: { key: 'odata' }, name: 'Once', configuration: SHOP },
        { headers: { 'idempotency-key': 'once' } },
      );
    const first = await send();
    const before = (await rowsOfNow()).length;
    const second = await send();
    expect(second.body).to.deep.equal(first.body);
    expect((await rowsOfNow()).length).to.equal(before);
  });

  it('has a row for the secret that a repeated request shows again', async () => {
    const send = () =>
      service.send(
        'POST',
        '/organizations/me/invitations',
        { email: 'again@example.com' },
        { headers: { 'idempotency-key': 'invited once' } },
      );
    const actionsOf = async (response: ApiAnswer) => (await rowsOf(response)).map(({ action }) => action);
    const first = await send();
    const second = await send();
    expect(second.body).to.deep.equal(first.body);
    expect(await actionsOf(first)).to.deep.equal(['create']);
    expect(await actionsOf(second)).to.deep.equal(['show']);
  });

  /** Refuses every row, as a full disk would. A constraint, because a distributed table has no triggers. */
  async function refuseRows(isRefused: boolean): Promise<void> {
    const { knex } = database;
    if (isRefused) await knex.raw('alter table audit_log add constraint refuse_row check (false) not valid');
    else await knex.raw('alter table audit_log drop constraint refuse_row');
  }

  /** Every row of every table that a change may be in. That a session is used is no change of it. */
  async function dump(): Promise<readonly string[]> {
    const { knex } = database;
    const tables: string[] = await knex('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
    // One statement: there are hundreds of dumps, of a hundred tables each.
    const reads = tables
      .filter((name) => !NOT_CHANGED.test(name))
      .map((name) => `select '${name} ' || (to_jsonb(t) - 'used_at')::text as row from ${name} t`);
    const { rows } = await knex.raw(`${reads.join(' union all ')} order by 1`);
    return pluck(rows, 'row');
  }
});
