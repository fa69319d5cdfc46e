import { randomBytes } from 'node:crypto';
import { type ApiCall, clientOf, ORGANIZATION_SECRET, type TestApp } from '../../support/app.ts';
import { SHOP } from './simulated.ts';
import { authorizationOf, makeTenants, type Tenant, updateRows, withDatabase } from './tenants.ts';

/** Something that a path names. */
export interface Thing {
  readonly id: number | string;
  /** Of an instance. */
  readonly token?: string;
  /** The parameters of paths to its parts. */
  readonly params?: Readonly<Record<string, string>>;
}

/** What a place has of; what is spare may be taken away. */
export type Kind =
  | 'instance'
  | 'spareInstance'
  | 'proxy'
  | 'spareProxy'
  | 'subscription'
  | 'spareSubscription'
  | 'delivery'
  | 'spareDelivery'
  | 'spareOrder'
  | 'connectSession'
  | 'spareConnectSession'
  | 'invitation'
  | 'spareInvitation'
  | 'accessKey'
  | 'spareAccessKey'
  | 'spareWatch'
  | 'bulkJob'
  | 'spareBulkJob'
  | 'bulkUpload'
  | 'formula'
  | 'spareFormula'
  | 'formulaInstance'
  | 'spareFormulaInstance'
  | 'execution'
  | 'spareExecution'
  | 'plannedRetry'
  | 'job'
  | 'spareJob'
  | 'user'
  | 'spareUser'
  | 'spareAccount';

/** An account with something of everything in it, all of which can be told from what is in another one. */
export interface Place {
  readonly accountId: number;
  /** Stands in every name, address and note of what is in it, and is the external id of the account. */
  readonly mark: string;
  /** May do everything there. */
  readonly owner: Tenant;
  /** What nobody else may see. */
  readonly secrets: readonly string[];
  /** The one that is there; a new one where it was taken away. */
  readonly find: (kind: Kind) => Promise<Thing>;
  readonly take: (kind: Kind) => void;
}

export interface NewPlace {
  readonly mark: string;
  /** Ids of what is made there begin here. */
  readonly firstId: number;
  /** Default: the first one. */
  readonly isOfAnotherOrganization?: boolean;
}

/** Of every proxy, beside one that names its place. */
export const APPLICATION_URL = 'https://app.example.com/connected';

/** Nothing is late. */
const NEVER = new Date('2100-01-01T00:00:00Z');
const POLICY = 'notification.webhook.failure.policy';
const OPERATIONAL_URL = 'notification.operational.callback.url';
const SUBSCRIPTIONS = '/notifications/subscriptions';

/** An account with an administrator of its organization, and something of everything. */
export async function createPlace(
  service: TestApp,
  { mark, firstId, isOfAnotherOrganization }: NewPlace,
): Promise<Place> {
  await startIdsAt(service, firstId);
  const owner = await createAccount(service, mark, isOfAnotherOrganization === true);
  return fillPlace(service, mark, owner);
}

export async function fillFirstPlace(service: TestApp, mark: string): Promise<Place> {
  const { accountId } = service;
  await updateRows(service, 'account', { id: accountId }, { external_id: mark });
  return fillPlace(service, mark, service);
}

/** From now on, of every table. */
export async function startIdsAt(service: TestApp, id: number): Promise<void> {
  const statement = `select setval(format('%I.%I', schemaname, sequencename)::regclass, ?) from pg_sequences where schemaname = 'public' and data_type = 'bigint'::regtype`;
  await withDatabase(service, async (knex) => knex.raw(statement, [id]));
}

function createAccount(service: TestApp, mark: string, isOfAnotherOrganization: boolean): Promise<Tenant> {
  return makeTenants(service, async (make) => {
    const own = { organizationId: 1, secret: ORGANIZATION_SECRET };
    const { organizationId, secret } = isOfAnotherOrganization ? await make.organization(mark) : own;
    const accountId = await make.account(organizationId, mark, isOfAnotherOrganization, { description: mark });
    const names = { first_name: mark, last_name: mark };
    const { userSecret } = await make.user({ organizationId, accountId }, mark, 'org-admin', names);
    return { accountId, organizationSecret: secret, userSecret };
  });
}

const toTexts = (values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

let count = 0;

/** For what must not be there twice. */
export function unique(name: string): string {
  count += 1;
  return `${name}-${count}`;
}

async function fillPlace(service: TestApp, mark: string, owner: Tenant): Promise<Place> {
  const { accountId } = owner;
  const secrets = [owner.userSecret, owner.organizationSecret];

  const { get, change } = clientOf((path, { headers, ...more } = {}) =>
    service.call(path, { ...more, headers: { ...authorizationOf(owner), ...headers } }),
  );
  const post = (path: string, body: unknown, more?: ApiCall) => change('POST', path, body, more);
  const set = (settings: object) => change('PATCH', '/accounts/settings', settings);
  const callbackUrl = (name: string) => `http://127.0.0.1:9/${mark}/${name}`;

  async function createInstance(name: string, events: object = {}): Promise<Thing> {
    const body = { element: { key: 'odata' }, name, tags: [mark], configuration: { ...SHOP, ...events } };
    const { id, token } = await post('/instances', body);
    secrets.push(token);
    return { id, token };
  }

  async function createProxy(): Promise<Thing> {
    const { id } = await post('/elements/oauthProxies', {
      name: unique(mark),
      apiKey: mark,
      apiSecret: `${mark}-${randomBytes(12).toString('hex')}`,
    });
    for (const url of [APPLICATION_URL, `https://app.example.com/${mark}`])
      await post(`/elements/oauthProxies/${id}/applicationUrls`, { url });
    return { id };
  }

  const subscriptionAt = async (url: string): Promise<Thing> => {
    const [subscription] = await get(SUBSCRIPTIONS, { query: { where: `url = '${url}'` } });
    return subscription;
  };

  /** Of a URL that nothing uses any more. */
  async function createSubscription(): Promise<Thing> {
    const url = callbackUrl(unique('spare'));
    await set({ [OPERATIONAL_URL]: url });
    await set({ [OPERATIONAL_URL]: null });
    return subscriptionAt(url);
  }

  async function createDelivery(): Promise<Thing> {
    const { id: instanceId } = await find('instance');
    const { eventId } = await post('/events/test', { instanceId, data: { note: mark } });
    const [delivery] = await get(`${SUBSCRIPTIONS}/deliveries`, { query: { where: `event.id = '${eventId}'` } });
    return delivery;
  }

  async function createOrder(): Promise<Thing> {
    const { token = '' } = await find('instance');
    const Code = unique('C');
    const body = {
      Code,
      CustomerId: '3f2504e0-4f89-41d3-9a0c-000000000007',
      PlacedAt: '2026-02-01T08:30:00Z',
      Paid: false,
    };
    await post('/Orders', body, { headers: authorizationOf(owner, token) });
    return { id: Code };
  }

  async function createBulkJob(): Promise<Thing> {
    const { token = '' } = await find('instance');
    const body = { objectName: 'Orders', fileName: mark };
    return post('/bulk/query', body, { headers: authorizationOf(owner, token) });
  }

  /** With two rows that fail. */
  async function createBulkUpload(): Promise<Thing> {
    const { token = '' } = await find('instance');
    const headers = authorizationOf(owner, token);
    const body = new FormData();
    body.append('metaData', JSON.stringify({ format: 'csv', action: 'create' }));
    body.append('file', new Blob(['Code,CustomerId\n,\n,\n']), `${mark}.csv`);
    const job = await post('/bulk/Orders', body, { headers });
    // Nothing works on jobs while the access is asked for.
    await withDatabase(service, (knex) =>
      knex.raw(
        `insert into bulk_row_error
           (account_id, job_id, job_created_at, row_number, outcome, is_doubtful, code, message, start_byte, end_byte)
         select account_id, id, created_at, n, 'failed', false, 'REQUEST_INVALID', ?, 0, 0
         from bulk_job, generate_series(1, 2) n where account_id = ? and id = ?`,
        [mark, accountId, job.id],
      ),
    );
    return job;
  }

  /** A formula instance with a schedule that never comes while the access is asked for. */
  async function createJob(): Promise<Thing> {
    const { id: formulaId } = await post('/formulas', {
      name: unique(mark),
      triggers: [{ type: 'scheduled', properties: { cron: '0 0 0 1 1 ?' }, onSuccess: ['end'] }],
      steps: [{ name: 'end', type: 'script', properties: { body: 'done();' } }],
    });
    const { id } = await post(`/formulas/${formulaId}/instances`, { name: unique(mark) });
    return { id };
  }

  /** Of a formula of its own. It has not ended, because nothing runs executions while the access is asked for. */
  async function createExecution(): Promise<Thing> {
    const { id: formulaId } = await post('/formulas', {
      name: unique(mark),
      triggers: [{ type: 'manual', onSuccess: ['bad'] }],
      steps: [{ name: 'bad', type: 'script', properties: { body: 'done();' } }],
    });
    const { id: instanceId } = await post(`/formulas/${formulaId}/instances`, { name: unique(mark) });
    const [{ id }] = await post(`/formulas/instances/${instanceId}/executions`, { note: mark });
    const params = { instanceId, executionId: id, stepExecutionId: 0 };
    return { id: formulaId, params: toTexts(params) };
  }

  /** Two executions of one instance, each with two steps that failed. */
  async function createFailedExecution(): Promise<Thing> {
    const { id, params } = await createExecution();
    await post(`/formulas/instances/${params?.instanceId}/executions`, { note: mark });
    const stepExecutionId = await withDatabase(service, async (knex) => {
      const instance = { account_id: accountId, formula_instance_id: Number(params?.instanceId) };
      await knex('formula_execution').where(instance).update({ status: 'failed' });
      await knex('formula_run').where(instance).delete();
      const values = JSON.stringify([
        [['console'], [mark]],
        [['error'], mark],
      ]);
      const { rows } = await knex.raw<{ rows: { id: number }[] }>(
        `insert into formula_step
           (account_id, execution_id, execution_at, ordinal, frame, step_name, status, is_fault, created_at, updated_at, content)
         select account_id, id, created_at, n, 0, 'bad', 'failed', true, created_at, created_at, ?::json
         from formula_execution, generate_series(1, 2) n where account_id = ? and formula_instance_id = ?
         returning id`,
        [values, accountId, instance.formula_instance_id],
      );
      return rows[0]?.id;
    });
    return { id, params: { ...params, stepExecutionId: String(stepExecutionId) } };
  }

  async function createPlannedRetry(): Promise<Thing> {
    const made = await createExecution();
    const key = { account_id: accountId, id: Number(made.params?.executionId) };
    await withDatabase(service, async (knex) => {
      await knex('formula_execution').where(key).update({ status: 'retry' });
      await knex('formula_run')
        .where(key)
        .update({
          due: NEVER,
          position: JSON.stringify({ frames: [], ordinal: 0, retries: 0, begun: 0, isRetry: true }),
        });
    });
    return made;
  }

  async function createConnectSession(): Promise<Thing> {
    const { id, url } = await post('/connect/sessions', { name: mark, elements: ['odata'], configuration: SHOP });
    secrets.push(url.slice(url.lastIndexOf('/') + 1));
    return { id };
  }

  async function createInvitation(): Promise<Thing> {
    const { id, url } = await post('/organizations/me/invitations', { email: `${unique(mark)}@example.com` });
    secrets.push(url.slice(url.lastIndexOf('#') + 1));
    return { id };
  }

  async function createAccessKey(): Promise<Thing> {
    const { id, key } = await post('/keys', { name: unique(mark), access: 'read' });
    secrets.push(key);
    return { id };
  }

  async function createWatch(): Promise<Thing> {
    const { id } = await find('instance');
    await change('PUT', `/instances/${id}/watches/Orders`);
    return { id };
  }

  async function createColleague(): Promise<Thing> {
    const email = `${unique(mark)}@example.com`;
    const body = { email, firstName: mark, lastName: mark };
    const { id, secret } = await post(`/accounts/${accountId}/users`, body);
    secrets.push(secret);
    return { id };
  }

  /** With parts of each kind and two versions. A resource has no schedule. */
  async function createFormula(more: object = {}): Promise<Thing> {
    const { id, steps, triggers, configuration } = await post('/formulas', {
      name: unique(mark),
      description: mark,
      configuration: [{ key: 'crm', type: 'elementInstance' }],
      triggers: [{ type: 'manual', onSuccess: ['end'] }],
      steps: [{ name: 'end', type: 'script', properties: { body: 'done();' } }],
      ...more,
    });
    await post(`/formulas/${id}/steps`, { name: 'other', type: 'script' });
    const [[step], [trigger], [variable]] = [steps, triggers, configuration];
    const parts = { stepId: step.id, triggerId: trigger.id, configurationId: variable.id, formulaId: id };
    return { id, params: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, String(part)])) };
  }

  async function createFormulaInstance(formula: Thing): Promise<Thing> {
    const { id: crm } = await find('instance');
    const { id } = await post(`/formulas/${formula.id}/instances`, { name: unique(mark), configuration: { crm } });
    return { id: formula.id, params: { instanceId: String(id) } };
  }

  const make: Readonly<Record<Kind, () => Promise<Thing>>> = {
    instance: () =>
      createInstance(mark, {
        'event.notification.enabled': true,
        'event.notification.callback.url': callbackUrl('events'),
      }),
    spareInstance: () => createInstance(`${mark} spare`),
    proxy: createProxy,
    spareProxy: createProxy,
    subscription: () => subscriptionAt(callbackUrl('events')),
    spareSubscription: createSubscription,
    delivery: createDelivery,
    spareDelivery: createDelivery,
    spareOrder: createOrder,
    connectSession: createConnectSession,
    spareConnectSession: createConnectSession,
    invitation: createInvitation,
    spareInvitation: createInvitation,
    accessKey: createAccessKey,
    spareAccessKey: createAccessKey,
    spareWatch: createWatch,
    bulkJob: createBulkJob,
    spareBulkJob: createBulkJob,
    bulkUpload: createBulkUpload,
    formula: () => createFormula({ method: 'POST', uri: `/${unique(mark)}` }),
    spareFormula: createFormula,
    formulaInstance: async () => createFormulaInstance(await find('formula')),
    spareFormulaInstance: async () => createFormulaInstance(await find('formula')),
    execution: createFailedExecution,
    spareExecution: createExecution,
    plannedRetry: createPlannedRetry,
    job: createJob,
    spareJob: createJob,
    user: createColleague,
    spareUser: createColleague,
    spareAccount: () => post('/accounts', { externalId: unique(mark) }),
  };
  const things = new Map<Kind, Promise<Thing>>();

  function find(kind: Kind): Promise<Thing> {
    const found = things.get(kind) ?? make[kind]();
    things.set(kind, found);
    return found;
  }

  await set({ [POLICY]: 'queue' });
  for (const kind of Object.keys(make) as Kind[]) await find(kind);
  const { id: instanceId } = await find('instance');
  for (const name of ['one', 'another'])
    await post(`/instances/${instanceId}/objects/${unique(name)}/definitions`, { fields: [] });
  // What works in the background does, in a process that works: here they stay as they are.
  await withDatabase(service, async (knex) => {
    for (const name of ['Orders', 'Products']) {
      const poll = { account_id: accountId, instance_id: Number(instanceId), resource: name };
      await knex('poll').insert({
        ...poll,
        settings_version: 1,
        interval_ms: 900_000,
        due: NEVER,
        last_error: mark,
      });
      const watched = { account_id: accountId, instance_id: Number(instanceId), object_name: name };
      await knex('schema_watch')
        .insert({ ...watched, requested: true, last_error: mark })
        .onConflict(['account_id', 'instance_id', 'object_name'])
        .merge();
      await knex('schema_change').insert({
        ...watched,
        change: JSON.stringify({ added: [mark], removed: [], changed: [] }),
        breaks: JSON.stringify({ mappings: [], polls: [], formulas: [] }),
        created_at: NEVER,
      });
      await knex('notification').insert({ account_id: accountId, type: mark, data: { note: mark } });
    }
  });
  return { accountId, mark, owner, secrets, find, take: (kind) => void things.delete(kind) };
}
