import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import {
  type DocumentedCall,
  documentedCalls,
  exampleNamed,
  parametersWithoutExample,
} from './support/documented-calls.ts';
import { prepareExecutions } from './support/executions.ts';
import { prepareFormulas } from './support/formulas.ts';
import { prepareMappings } from './support/mappings.ts';
import { findDifferences } from './support/shape.ts';

/** What the others need, in this order: an account, an instance with events on, an account that queues them, one event, one OAuth proxy, users. */
const FIRST = [
  ...['createAccount', 'createInstance', 'createElementInstance', 'updateInstanceConfiguration'],
  ...['setOwnAccountSettings', 'updateOwnAccountSettings', 'setAccountSettings', 'updateAccountSettings'],
  ...['sendTestEvent', 'createOAuthProxy', 'addOAuthProxyApplicationUrl', 'setConnectOrigins', 'setConnectBranding'],
  'createInvitation',
  'createAccessKey',
  ...['createConnectSession', 'createBulkQuery', 'createOrganizationUser', 'createAccountUser', 'grantUserRole'],
  'grantAccountRole',
];

/** What takes away what the others need. */
const LAST = [
  // It is told of among the notifications.
  'completeConnectPage',
  'deleteConnectSession',
  'revokeInvitation',
  'deleteAccessKey',
  'cancelBulkJob',
  'cancelHubBulkJob',
  'deleteBulkJob',
  'deleteHubBulkJob',
  'revokeUserRole',
  'revokeAccountRole',
  'deleteOrganizationUser',
  'deleteAccountUser',
  'deleteUser',
  'acknowledgeDelivery',
  'releaseDeliveries',
  'acknowledgeDeliveries',
  'listInstancePolls',
  'runInstancePoll',
  'replayInstancePoll',
  'passDelete',
  'deleteRecord',
  'deleteHubRecord',
  'removeOAuthProxyApplicationUrl',
  'deleteOAuthProxy',
  'disableThisInstance',
  'disableInstance',
  'deleteThisInstance',
  'deleteInstance',
  'deleteElementInstance',
  'deleteSubscription',
  'deleteAccount',
  'deactivateElement',
];

/** Asked as a browser does: by the cookie of a session, or without anything to log in. */
const OF_SESSIONS = ['createConsoleSession', 'getConsoleLogIn', 'getConsoleSession', 'deleteConsoleSession'];

/** Whatever else than 200 the examples get, and why. */
const OTHER_STATUS: Readonly<Record<string, number>> = {
  redirectToDocs: 302,
  // No example can know the key of a proxy: the answer is the page that says so.
  redirectThroughOAuthProxy: 400,
  // Nor the key of a connect session, or a ticket.
  showConnectPage: 404,
  leaveForProvider: 400,
  // Nor the address of an instance.
  answerProvider: 404,
  receiveProviderEvents: 404,
  // It needs an access key.
  callAgentTools: 401,
  // Nor the end of a link.
  ...{ showInvitation: 404, acceptInvitation: 404 },
  // Nor the id of a request.
  getActivity: 404,
  getUsage: 404,
  // The element of the examples has no such objects.
  ...{ search: 404, searchHub: 404, listAffiliateCommissions: 400, searchTasks: 400 },
  ...{ listHubAffiliateCommissions: 400, searchHubTasks: 400 },
  // It has ended, and then it is deleted.
  deleteElementInstance: 404,
  ...{ cancelBulkJob: 409, cancelHubBulkJob: 409, deleteHubBulkJob: 404 },
  // No instance has the id of the example.
  executeTransformation: 404,
  // What the provider answers.
  passPost: 201,
  passDelete: 204,
};

describe('the examples of the reference', () => {
  const service = useApp();
  const calls = inOrder(documentedCalls());

  it('are there for every parameter that is required', () => {
    expect(parametersWithoutExample()).to.deep.equal([]);
  });

  it('stand beside each other: no key that another call has used, and one way to name a page', () => {
    for (const { operationId, url, headers } of calls) {
      expect(Object.keys(headers), operationId).not.to.include('Idempotency-Key');
      const { searchParams } = new URL(url, service.app.url);
      expect(searchParams.has('page') && searchParams.has('nextPage'), operationId).to.equal(false);
    }
  });

  for (const call of calls) {
    it(`work as they stand: ${call.operationId} ${call.body ?? ''}`.trim(), async () => {
      await prepare[call.operationId]?.();
      await prepareExecutions(service, call.operationId);
      await prepareFormulas(service, call.operationId);
      await prepareMappings(service.call, call.operationId, { instanceId: 1, objectName: 'people' });
      const { status, body } = await send(call);
      expect(status, JSON.stringify(body)).to.equal(OTHER_STATUS[call.operationId] ?? 200);
      if (!call.security.includes('UserElement') || !call.url.startsWith('/passthrough/'))
        expect(call.expected).to.include(String(status));
      if (call.operationId in made) made[call.operationId] ??= Object(body).token;
      const differences = call.answers.map((example) => findDifferences(example, body));
      if (status === 200 && differences.length > 0)
        expect(differences, 'no example is what was answered').to.deep.include([]);
    });
  }

  /** The tokens of the instances that the examples make. */
  const made: Record<string, string | undefined> = { createInstance: undefined, createElementInstance: undefined };

  /** The order that an example before it deleted is there again. */
  const orderAgain = async () => {
    const [order] = calls.filter(({ operationId }) => operationId === 'replaceRecord');
    await service.send('POST', '/Orders', order?.body, { token: made.createInstance });
  };
  /** The user whom an example before it deleted is there again. */
  const userAgain = async () => {
    const [user] = calls.filter(({ operationId }) => operationId === 'createOrganizationUser');
    await service.send('POST', '/organizations/users', user?.body);
  };
  /** No delivery is under way any more, as nothing listens where they go. */
  const untilQueued = () =>
    until(async () => {
      const { body } = await service.call('/notifications/subscriptions/deliveries/counts');
      return body.delivering === 0 && body.retrying === 0;
    });
  /** Late, as its events would be among the deliveries of other examples. */
  const pollOrders = async () => {
    const body = { configuration: { 'event.objects': 'Orders' } };
    await service.send('PATCH', '/instances/1', body);
    await until(async () => (await service.call('/instances/1/polls')).body[0]?.runs > 0);
  };
  const untilBulkEnded = () =>
    until(async () => {
      const { body } = await service.call('/bulk/jobs', { token: made.createInstance });
      return body.every(({ status }: { readonly status: string }) => status === 'COMPLETED');
    });
  /** A query, when its activity has been written. */
  const untilQueried = async () => {
    await service.call('/Orders', { token: made.createInstance });
    await until(async () => (await service.call("/activity?where=operation='listRecords'")).body.length > 0);
  };
  /** What a browser has that logged in: what is about its session is asked with it. */
  let session: Readonly<Record<string, string>> = {};
  const openSession = async () => {
    const { headers, body } = await service.send('POST', '/console/session');
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
    session = { cookie, 'x-csrf-token': body.csrfToken };
  };
  /** What the page of a connect session has in its address: of a new session, which fixes what the examples leave out. */
  let pageKey = '';
  const openPage = async (configuration: object) => {
    const body = await service.change('POST', '/connect/sessions', { configuration });
    pageKey = body.url.slice(body.url.lastIndexOf('/') + 1);
  };
  let accessKey = '';
  const createKey = async () => {
    const body = { name: 'Example', instances: [1], objects: ['contacts'], access: 'read', expiresIn: 3600 };
    accessKey = (await service.change('POST', '/keys', body)).key;
  };
  const openShopPage = () => openPage({ simulator: true });
  const openSalesforcePage = () =>
    openPage({ simulator: true, 'oauth.api.key': 'demo-client', 'oauth.api.secret': 'demo-secret' });
  const prepare: Readonly<Record<string, () => Promise<unknown>>> = {
    getOwnAccessKey: createKey,
    getConnectPage: openShopPage,
    completeConnectPage: openShopPage,
    cancelConnectPage: openShopPage,
    authorizeConnectPage: openSalesforcePage,
    deleteRecord: orderAgain,
    deleteHubRecord: orderAgain,
    listActivity: untilQueried,
    listInstanceActivity: untilQueried,
    listUsage: untilQueried,
    deleteAccountUser: userAgain,
    deleteUser: userAgain,
    listDeliveries: untilQueued,
    // Of the subscription that was deactivated.
    listNotifications: untilQueued,
    getBulkFile: untilBulkEnded,
    getBulkStatus: untilBulkEnded,
    listBulkJobs: untilBulkEnded,
    listHubBulkJobs: untilBulkEnded,
    acknowledgeDelivery: untilQueued,
    createConsoleSession: () => service.send('PUT', '/users/me/password', exampleNamed('newPassword')),
    getConsoleSession: openSession,
    deleteConsoleSession: openSession,
    listInstancePolls: pollOrders,
    listSchemaWatches: watchOrders,
    getSchemaWatch: watchOrders,
    watchSchema: watchOrders,
  };

  /** Its fields are known. */
  async function watchOrders(): Promise<void> {
    await service.send('PUT', '/instances/1/watches/Orders');
    await until(async () => (await service.call('/instances/1/watches/Orders')).body.state === 'watched');
  }

  async function send({ operationId, url, method, belowBase, security, headers, body }: DocumentedCall) {
    const isOfPage = security.includes('ConnectKey');
    const isOfKey = security.join() === 'AccessKey';
    const ofUser = `User ${service.userSecret}, Organization ${service.organizationSecret}`;
    const secrets = isOfPage ? `Connect ${pageKey}` : isOfKey ? `Bearer ${accessKey}` : ofUser;
    // What ends "this" instance ends the other one.
    const token = operationId === 'deleteThisInstance' ? made.createElementInstance : made.createInstance;
    const element = isOfPage || isOfKey || security.includes('UserOrganization') ? '' : `, Element ${token}`;
    const response = await fetch(`${belowBase ? service.app.baseUrl : service.app.url}${url}`, {
      method,
      redirect: 'manual',
      headers: {
        ...headers,
        ...(OF_SESSIONS.includes(operationId) ? session : security.length > 0 && { Authorization: secrets + element }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  }
});

function inOrder(calls: readonly DocumentedCall[]): readonly DocumentedCall[] {
  const rank = ({ operationId }: DocumentedCall) => {
    if (FIRST.includes(operationId)) return FIRST.indexOf(operationId) - FIRST.length;
    return LAST.indexOf(operationId) + 1;
  };
  return calls.toSorted((one, other) => rank(one) - rank(other));
}
