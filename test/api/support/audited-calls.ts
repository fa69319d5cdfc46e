import type { ApiOperationId } from '../../../src/api/operation.ts';
import type { ApiAnswer, ApiCall, TestApp } from '../../support/app.ts';
import { SHOP } from './simulated.ts';
import { withDatabase } from './tenants.ts';

/** How an operation that changes something, or shows a secret, is done once. */
export interface AuditedCall {
  /** What it needs, such as an instance: done before, and not looked at. */
  readonly prepare?: () => Promise<Prepared>;
  readonly path: (prepared: Prepared) => string;
  readonly call: ApiCall | ((prepared: Prepared) => ApiCall);
  /** What the row says beside what the table of operations says. */
  readonly row?: (prepared: Prepared, answer: ApiAnswer['body']) => Readonly<Record<string, unknown>>;
}

export interface Prepared {
  readonly id: number;
  readonly token?: string;
  /** In place of the secrets. */
  readonly headers?: Readonly<Record<string, string>>;
}

const NOTHING: Prepared = { id: 0 };
/** Nobody listens there. */
const CALLBACK = 'http://127.0.0.1:9';
const QUEUED = "channel = 'webhook' AND status = 'queued'";

/** One for every operation with an audit entry. The service works on nothing in the background (`ROLE` `api`). */
export function createAuditedCalls(service: TestApp): Readonly<Partial<Record<ApiOperationId, AuditedCall>>> {
  let made = 0;
  const nextName = () => `Made ${made++}`;

  const instance = (configuration: object = {}) =>
    service.createInstance('odata', { ...SHOP, ...configuration }, { name: nextName() });
  const withEvents = (callbackUrl: string) =>
    instance({ 'event.notification.enabled': true, 'event.notification.callback.url': callbackUrl });

  async function proxy(): Promise<Prepared> {
    const body = { name: nextName(), apiKey: 'client', apiSecret: 'secret-of-the-proxy' };
    const { body: made } = await ok('/elements/oauthProxies', { method: 'POST', body });
    await ok(`/elements/oauthProxies/${made.id}/applicationUrls`, {
      method: 'POST',
      body: { url: 'https://a.example.com/' },
    });
    return made;
  }

  async function subscription(): Promise<Prepared> {
    const url = `${CALLBACK}/${made++}`;
    await ok(`/instances/${(await withEvents(url)).id}`, { method: 'DELETE' });
    const { body } = await ok('/notifications/subscriptions', { query: { where: `url = '${url}'` } });
    return body[0];
  }

  async function connectSession(): Promise<Prepared> {
    const body = { elements: ['odata'], name: nextName(), configuration: { simulator: true } };
    const { body: made } = await ok('/connect/sessions', { method: 'POST', body });
    return { id: made.id, headers: { authorization: `Connect ${made.url.slice(made.url.lastIndexOf('/') + 1)}` } };
  }

  /** The account pulls its events. */
  async function queuedDelivery(): Promise<Prepared> {
    const settings = { 'notification.webhook.failure.policy': 'queue' };
    await ok('/accounts/settings', { method: 'PATCH', body: settings });
    const { id: instanceId } = await withEvents(`${CALLBACK}/${made++}`);
    await ok('/events/test', { method: 'POST', body: { instanceId, data: {} } });
    const { body } = await ok('/notifications/subscriptions/deliveries', {
      query: { where: `instance.id = ${instanceId}` },
    });
    return body[0];
  }

  async function polled(): Promise<Prepared> {
    const { id } = await instance();
    await withDatabase(service, (knex) =>
      knex.raw(
        `insert into poll (account_id, instance_id, resource, settings_version, interval_ms, due)
         select account_id, id, 'Orders', settings_version, 60000, now() + interval '1 hour' from instance where id = ?`,
        [id],
      ),
    );
    return { id };
  }

  async function traced(): Promise<Prepared> {
    const made = await instance();
    await ok(`/instances/${made.id}/trace-logging`, { method: 'PUT' });
    return made;
  }

  async function account(): Promise<Prepared> {
    return (await ok('/accounts', { method: 'POST', body: { externalId: nextName() } })).body;
  }

  async function accountWithRole(): Promise<Prepared> {
    const made = await account();
    await ok(`/accounts/${made.id}/roles/admin`, { method: 'PUT' });
    return made;
  }

  async function user(): Promise<Prepared> {
    const body = { email: `user-${made++}@example.com`, firstName: 'Ada', lastName: 'Lovelace' };
    return (await ok('/organizations/users', { method: 'POST', body })).body;
  }

  async function administrator(): Promise<Prepared> {
    const { id } = await user();
    await ok(`/users/${id}/roles/admin`, { method: 'PUT' });
    return { id };
  }

  const element = (method: 'PUT' | 'DELETE') => async (): Promise<Prepared> => {
    await ok('/elements/box/active', { method });
    return { id: 0 };
  };

  /** What a page of the console sends. */
  async function consoleSession(): Promise<Prepared> {
    const { headers, body } = await ok('/console/session', { method: 'POST', body: {} });
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    return { id: 0, headers: { authorization: '', cookie, 'x-csrf-token': body.csrfToken } };
  }

  async function ok(path: string, call: ApiCall): Promise<ApiAnswer> {
    const answer = await service.call(path, call);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  const byToken =
    (call: ApiCall) =>
    (prepared: Prepared): ApiCall => ({
      ...call,
      ...(prepared.token !== undefined && { token: prepared.token }),
    });
  const ofInstance = ({ id }: Prepared) => ({ instance_id: id });
  const atInstance =
    (end = '') =>
    ({ id }: Prepared) =>
      `/instances/${id}${end}`;
  const atProxy =
    (end = '') =>
    ({ id }: Prepared) =>
      `/elements/oauthProxies/${id}${end}`;
  const atSubscription = ({ id }: Prepared) => `/notifications/subscriptions/${id}`;
  const atDelivery =
    (end = '') =>
    ({ id }: Prepared) =>
      `/notifications/subscriptions/deliveries/${id}${end}`;
  const deliveries = () => '/notifications/subscriptions/deliveries';

  const newInstance: Pick<AuditedCall, 'row'> = {
    row: (_, { id }) => ({ instance_id: id }),
  };
  const patch = { method: 'PATCH', body: { name: 'Another name' } };
  const put = { method: 'PUT', body: { name: 'Another name', configuration: SHOP } };
  const setProperty = { method: 'PATCH', body: { propertyValue: 'Orders' } };
  const atElementInstance = ({ id }: Prepared) => `/elements/odata/instances/${id}`;
  const change: Pick<AuditedCall, 'prepare' | 'row'> = {
    prepare: instance,
    row: (prepared) => ({ ...ofInstance(prepared) }),
  };
  const ofAccount: Pick<AuditedCall, 'prepare' | 'path' | 'row'> = {
    prepare: account,
    path: ({ id }) => `/accounts/${id}`,
    row: ({ id }) => ({ account_id: id }),
  };
  /** What becomes of a user, at a path before the id. */
  const ofUser = (before: string, call: AuditedCall['call']): AuditedCall => ({
    prepare: user,
    path: ({ id }) => `${before}/${id}`,
    call,
    row: ({ id }) => ({ target_id: String(id) }),
  });
  const newUser = (before: string): AuditedCall => ({
    path: () => before,
    call: () => {
      const body = { email: `user-${made++}@example.com`, firstName: 'Ada', lastName: 'Lovelace' };
      return { method: 'POST', body };
    },
    row: (_, { id }) => ({ target_id: String(id) }),
  });
  const rename = { method: 'PATCH', body: { firstName: 'Augusta' } };
  const ownSecrets = () => '/users/me/secrets';
  const secrets = () => '/organizations/me/secrets';
  const settings = { 'notification.webhook.retry.count': 9 };
  const period = () => ({ from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' });

  return {
    updateOrganization: {
      path: () => '/organizations/me',
      call: () => ({ method: 'PATCH', body: { name: nextName() } }),
    },
    replaceOrganization: {
      path: () => '/organizations/me',
      call: () => ({ method: 'PUT', body: { name: nextName() } }),
    },
    listOrganizationSecrets: { path: secrets, call: {} },
    rotateOrganizationSecret: { path: secrets, call: { method: 'POST', body: {} } },
    createAccount: {
      path: () => '/accounts',
      call: () => ({ method: 'POST', body: { externalId: nextName() } }),
      row: (_, { id }) => ({ target_id: String(id) }),
    },
    createOrganizationAccount: {
      path: () => '/organizations/1/accounts',
      call: () => ({ method: 'POST', body: { externalId: nextName() } }),
      row: (_, { id }) => ({ target_id: String(id) }),
    },
    grantAccountRole: { ...ofAccount, path: ({ id }) => `/accounts/${id}/roles/admin`, call: { method: 'PUT' } },
    revokeAccountRole: {
      ...ofAccount,
      prepare: accountWithRole,
      path: ({ id }) => `/accounts/${id}/roles/admin`,
      call: { method: 'DELETE' },
    },
    updateAccount: { ...ofAccount, call: { method: 'PATCH', body: { name: 'Another name' } } },
    replaceAccount: {
      ...ofAccount,
      call: () => ({ method: 'PUT', body: { externalId: nextName(), name: nextName() } }),
    },
    deleteAccount: { ...ofAccount, call: { method: 'DELETE' } },

    createOrganizationUser: newUser('/organizations/users'),
    updateOrganizationUser: ofUser('/organizations/users', rename),
    deleteOrganizationUser: ofUser('/organizations/users', { method: 'DELETE' }),
    createAccountUser: newUser('/accounts/1/users'),
    updateAccountUser: ofUser('/accounts/1/users', rename),
    replaceAccountUser: ofUser('/accounts/1/users', () => ({
      method: 'PUT',
      body: { email: `augusta-${made++}@example.com`, firstName: 'Augusta', lastName: 'King' },
    })),
    deleteAccountUser: ofUser('/accounts/1/users', { method: 'DELETE' }),
    updateUser: ofUser('/users', rename),
    deleteUser: ofUser('/users', { method: 'DELETE' }),
    updateOwnUser: { path: () => '/users/me', call: () => ({ method: 'PATCH', body: { lastName: nextName() } }) },
    listOwnUserSecrets: { path: ownSecrets, call: {} },
    rotateOwnUserSecret: { path: ownSecrets, call: { method: 'POST', body: {} } },
    replaceRole: {
      path: () => '/organizations/roles/default-user',
      call: () => ({ method: 'PUT', body: { privileges: made++ % 2 === 0 ? ['viewElements'] : ['viewFormulas'] } }),
      row: () => ({ target_id: 'default-user' }),
    },
    grantUserRole: {
      prepare: user,
      path: ({ id }) => `/users/${id}/roles/admin`,
      call: { method: 'PUT' },
      row: ({ id }) => ({ target_id: String(id) }),
    },
    revokeUserRole: {
      prepare: administrator,
      path: ({ id }) => `/users/${id}/roles/admin`,
      call: { method: 'DELETE' },
      row: ({ id }) => ({ target_id: String(id) }),
    },

    activateElement: {
      prepare: element('DELETE'),
      path: () => '/elements/box/active',
      call: { method: 'PUT' },
      row: () => ({ target_id: 'box' }),
    },
    deactivateElement: {
      prepare: element('PUT'),
      path: () => '/elements/box/active',
      call: { method: 'DELETE' },
      row: () => ({ target_id: 'box' }),
    },

    setOwnAccountSettings: { path: () => '/accounts/settings', call: { method: 'POST', body: settings } },
    updateOwnAccountSettings: { path: () => '/accounts/settings', call: { method: 'PATCH', body: settings } },
    setAccountSettings: { path: () => '/accounts/1/settings', call: { method: 'POST', body: settings } },
    updateAccountSettings: { path: () => '/accounts/1/settings', call: { method: 'PATCH', body: settings } },

    setConnectOrigins: {
      path: () => '/organizations/me/connect-origins',
      call: () => ({ method: 'PUT', body: { origins: [`https://app-${made++}.example.com`] } }),
    },
    createConnectSession: {
      path: () => '/connect/sessions',
      call: { method: 'POST', body: { elements: ['odata'], configuration: SHOP } },
    },
    deleteConnectSession: {
      prepare: connectSession,
      path: ({ id }) => `/connect/sessions/${id}`,
      call: { method: 'DELETE' },
    },
    completeConnectPage: {
      prepare: connectSession,
      path: () => '/connect/session/instance',
      call: ({ headers = {} }) => ({
        method: 'POST',
        headers,
        body: { elementKey: 'odata', configuration: { 'base.url': SHOP['base.url'] } },
      }),
      row: (_, { instanceId }) => ({ instance_id: instanceId }),
    },
    cancelConnectPage: {
      prepare: connectSession,
      path: () => '/connect/session',
      call: ({ headers = {} }) => ({ method: 'DELETE', headers }),
      row: ({ id }) => ({ target_id: String(id) }),
    },

    createConsoleSession: { path: () => '/console/session', call: { method: 'POST', body: {} } },
    deleteConsoleSession: {
      prepare: consoleSession,
      path: () => '/console/session',
      call: ({ headers = {} }) => ({ method: 'DELETE', headers }),
    },
    setOwnPassword: {
      path: () => '/users/me/password',
      call: { method: 'PUT', body: { password: 'violet anchor drifts past noon' } },
    },

    createInstance: {
      ...newInstance,
      path: () => '/instances',
      call: { method: 'POST', body: { element: { key: 'odata' }, name: 'New', configuration: SHOP } },
    },
    createElementInstance: {
      ...newInstance,
      path: () => '/elements/odata/instances',
      call: { method: 'POST', body: { name: 'New', configuration: SHOP } },
    },
    updateInstance: { ...change, path: atInstance(), call: patch },
    replaceInstance: { ...change, path: atInstance(), call: put },
    deleteInstance: { ...change, path: atInstance(), call: { method: 'DELETE' } },
    updateThisInstance: { ...change, path: () => '/instances', call: byToken(patch) },
    replaceThisInstance: { ...change, path: () => '/instances', call: byToken(put) },
    deleteThisInstance: { ...change, path: () => '/instances', call: byToken({ method: 'DELETE' }) },
    enableInstance: { ...change, path: atInstance('/enabled'), call: { method: 'PUT' } },
    disableInstance: { ...change, path: atInstance('/enabled'), call: { method: 'DELETE' } },
    updateInstanceConfiguration: {
      ...change,
      path: atInstance('/configuration'),
      call: { method: 'PATCH', body: { 'event.objects': 'Orders' } },
    },
    startTraceLogging: { ...change, path: atInstance('/trace-logging'), call: { method: 'PUT' } },
    endTraceLogging: { ...change, prepare: traced, path: atInstance('/trace-logging'), call: { method: 'DELETE' } },
    updateConfigurationProperty: {
      ...change,
      path: atInstance('/configuration/event.objects'),
      call: setProperty,
    },
    updateElementInstance: { ...change, path: atElementInstance, call: patch },
    replaceElementInstance: { ...change, path: atElementInstance, call: put },
    deleteElementInstance: { ...change, path: atElementInstance, call: { method: 'DELETE' } },
    enableThisInstance: { ...change, path: () => '/instances/enabled', call: byToken({ method: 'PUT' }) },
    disableThisInstance: { ...change, path: () => '/instances/enabled', call: byToken({ method: 'DELETE' }) },
    updateThisInstanceConfiguration: {
      ...change,
      path: () => '/instances/configuration',
      call: byToken({ method: 'PATCH', body: { 'event.objects': 'Orders' } }),
    },
    updateThisConfigurationProperty: {
      ...change,
      path: () => '/instances/configuration/event.objects',
      call: byToken(setProperty),
    },
    startThisTraceLogging: { ...change, path: () => '/instances/trace-logging', call: byToken({ method: 'PUT' }) },
    endThisTraceLogging: {
      ...change,
      prepare: traced,
      path: () => '/instances/trace-logging',
      call: byToken({ method: 'DELETE' }),
    },
    runInstancePoll: {
      prepare: polled,
      path: atInstance('/polls/Orders/run'),
      call: { method: 'POST' },
      row: ofInstance,
    },
    replayInstancePoll: {
      prepare: polled,
      path: atInstance('/polls/Orders/replay'),
      call: { method: 'POST', body: { from: '2026-01-01T00:00:00Z' } },
      row: ofInstance,
    },

    createOAuthProxy: {
      path: () => '/elements/oauthProxies',
      call: () => ({ method: 'POST', body: { name: nextName(), apiKey: 'x', apiSecret: 'secret-of-the-proxy' } }),
      row: (_, { id }) => ({ target_id: String(id) }),
    },
    updateOAuthProxy: {
      prepare: proxy,
      path: atProxy(),
      call: { method: 'PATCH', body: { apiSecret: 'another-secret' } },
    },
    deleteOAuthProxy: { prepare: proxy, path: atProxy(), call: { method: 'DELETE' } },
    addOAuthProxyApplicationUrl: {
      prepare: proxy,
      path: atProxy('/applicationUrls'),
      call: { method: 'POST', body: { url: 'https://b.example.com/' } },
    },
    removeOAuthProxyApplicationUrl: {
      prepare: proxy,
      path: atProxy('/applicationUrls'),
      call: { method: 'DELETE', query: { url: 'https://a.example.com/' } },
    },

    getSubscription: { prepare: subscription, path: atSubscription, call: {} },
    updateSubscription: {
      prepare: subscription,
      path: atSubscription,
      call: { method: 'PATCH', body: { eventTypes: ['orders.*'], state: 'deactivated' } },
    },
    deleteSubscription: { prepare: subscription, path: atSubscription, call: { method: 'DELETE' } },
    releaseDeliveries: {
      prepare: queuedDelivery,
      path: deliveries,
      call: { method: 'PUT', query: { where: QUEUED } },
      row: (_, { reactivated, released }) => ({ changes: { reactivated, released } }),
    },
    acknowledgeDeliveries: {
      prepare: queuedDelivery,
      path: deliveries,
      call: { method: 'DELETE', query: { where: QUEUED } },
      row: (_, { acknowledged }) => ({ changes: { acknowledged } }),
    },
    acknowledgeDelivery: { prepare: queuedDelivery, path: atDelivery(), call: { method: 'DELETE' } },
    redeliver: { prepare: queuedDelivery, path: atDelivery('/redelivery'), call: { method: 'POST' } },
    redeliverPeriod: {
      prepare: queuedDelivery,
      path: () => '/notifications/subscriptions/redeliveries',
      call: () => ({ method: 'POST', body: period() }),
    },
  };
}

/** What it needs is made, where it needs something. */
export async function prepared({ prepare }: AuditedCall): Promise<Prepared> {
  return prepare === undefined ? NOTHING : prepare();
}

export function callOf({ call }: AuditedCall, given: Prepared): ApiCall {
  return typeof call === 'function' ? call(given) : call;
}
