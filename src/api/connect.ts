import { callerOf } from '../connect/completion.ts';
import type { Offer } from '../connect/offer.ts';
import type { Description } from '../connect/page.ts';
import { problemOf, type SessionProblem } from '../connect/refusals.ts';
import { statusOf } from '../connect/session.ts';
import type { SessionRow } from '../connect/session-store.ts';
import type { Connector } from '../connector/contract.ts';
import { pointer } from '../errors.ts';
import type { Platform } from '../platform.ts';
import type { ApiServices } from './api-services.ts';
import { withPointers } from './body-faults.ts';
import { markOf } from './element-mark.ts';
import { toConfigurationField } from './element-view.ts';
import type { Handlers, OperationResult } from './operation.ts';
import { respondWithPage } from './page-tokens.ts';

type SessionView = OperationResult<'getConnectSession'>;
type PageView = OperationResult<'getConnectPage'>;

export function createConnectHandlers({ connect, registry }: ApiServices, { keys, clock }: Platform) {
  const { sessions, page, origins, brandings } = connect;

  return {
    getConnectOrigins: async ({ principal }) => ({
      body: { origins: [...(await origins.of(principal.organizationId))] },
    }),
    setConnectOrigins: async ({ principal, body }) => ({
      body: { origins: [...(await origins.replace(principal.organizationId, body.origins))] },
    }),

    getConnectBranding: async ({ principal }) => ({ body: { ...(await brandings.of(principal.organizationId)) } }),
    setConnectBranding: async ({ principal, body }) => ({
      body: await brandings.replace(principal.organizationId, body),
    }),

    createConnectSession: async ({ principal, body }) => {
      const { session, url } = await sessions.create(principal, body);
      return { body: { ...toSessionView(session, []), ...withBranding(session), url } };
    },

    listConnectSessions: async ({ principal: { organizationId, accountId }, ...request }) => {
      const registered = await origins.of(organizationId);
      return respondWithPage(keys, request, {
        context: ['connect-sessions', accountId, request.query.where],
        read: (page) => sessions.list(accountId, page),
        toView: (session) => toSessionView(session, registered),
      });
    },

    getConnectSession: async ({ principal, path }) => {
      const { session, token } = await sessions.get(principal.accountId, path.id);
      const record = toSessionView(session, await origins.of(principal.organizationId));
      return { body: { ...record, ...withBranding(session), ...(token !== undefined && { token }) } };
    },

    deleteConnectSession: async ({ principal, path }) => ({
      body: toSessionView(await sessions.end(principal.accountId, path.id), await origins.of(principal.organizationId)),
    }),

    getConnectPage: async ({ pageSession }) => ({
      body: toPageView(await page.describe(pageSession), clock.now()),
    }),

    completeConnectPage: ({ pageSession, body, signal, runAs }) =>
      runAs(callerOf(pageSession), async () => {
        const { instanceId, returnUrl } = await page.connect(pageSession, body, signal);
        return { body: { status: 'completed', instanceId, ...(returnUrl !== undefined && { returnUrl }) } };
      }),

    authorizeConnectPage: async ({ pageSession, body }) => {
      const { opener = 'popup', ...input } = body;
      const begun = page.begin(pageSession, { ...input, opener });
      return { body: { url: await withPointers(inConfiguration(registry.findConnector(body.elementKey)), begun) } };
    },

    cancelConnectPage: ({ pageSession, runAs }) =>
      runAs(callerOf(pageSession), async () => {
        const returnUrl = await page.cancel(pageSession);
        return { body: { status: 'failed', ...(returnUrl !== undefined && { returnUrl }) } };
      }),
  } satisfies Partial<Handlers>;
}

/** The parameters of an authorization URL are fields of the form here. */
function inConfiguration(connector: Connector | undefined): (bodyPointer: string) => string {
  const { siteAddressKey, sandboxKey, merchantIdKey } = connector?.auth.type === 'oauth2' ? connector.auth : {};
  const keys: Readonly<Record<string, string | undefined>> = {
    '/query/siteAddress': siteAddressKey,
    '/query/sandbox': sandboxKey,
    '/query/merchantId': merchantIdKey,
    '/query/apiKey': 'oauth.api.key',
    '/query/scope': 'oauth.scope',
  };
  return (bodyPointer) => {
    const key = keys[bodyPointer];
    return key === undefined ? bodyPointer : pointer('body', 'configuration', key);
  };
}

/** @param registered the connect origins of the organization now */
function toSessionView(session: SessionRow, registered: readonly string[]): SessionView {
  const { id, status, elements, tags, name, redirectUrl, proxyId, reauthenticates, instanceId } = session;
  const { elementKey, error, createdAt, expiresAt, endedAt } = session;
  const problem = problemOf(session, registered);
  return {
    id,
    status,
    elements: [...elements],
    tags: [...tags],
    ...(name !== null && { name }),
    ...(redirectUrl !== null && { redirectUrl }),
    ...(proxyId !== null && { proxyId }),
    isReauthentication: reauthenticates,
    ...(instanceId !== null && { instanceId }),
    ...(elementKey !== null && { elementKey }),
    ...(error !== null && { error: { ...error } }),
    ...(problem !== undefined && { problem: toProblemView(problem) }),
    createdDate: createdAt.toISOString(),
    expiresDate: expiresAt.toISOString(),
    ...(endedAt !== null && { endedDate: endedAt.toISOString() }),
  };
}

function withBranding({ branding }: Pick<SessionRow, 'branding'>): Pick<SessionView, 'branding'> {
  return Object.keys(branding).length === 0 ? {} : { branding: { ...branding } };
}

function toProblemView({ at, ...problem }: SessionProblem): SessionView['problem'] {
  return { ...problem, date: at.toISOString() };
}

function toPageView(
  { session, offers, returnsTo, returnUrl, origins, branding }: Description,
  nowMs: number,
): PageView {
  const { id, name, reauthenticates, elementKey, instanceId, error, expiresAt } = session;
  const status = statusOf(session, nowMs);
  return {
    id,
    status,
    expiresDate: expiresAt.toISOString(),
    isReauthentication: reauthenticates,
    ...(name !== null && { name }),
    ...(elementKey !== null && { elementKey }),
    ...(status === 'completed' && instanceId !== null && { instanceId }),
    ...(error !== null && { error: { ...error } }),
    ...(returnsTo !== undefined && { returnsTo }),
    ...(returnUrl !== undefined && { returnUrl }),
    elements: offers.map(toOfferView),
    origins: [...origins],
    ...withBranding({ branding }),
  };
}

function toOfferView({ connector, isAuthorized, fields }: Offer): PageView['elements'][number] {
  const { key, name, description, hub, auth, documentation = [] } = connector;
  return {
    key,
    name,
    description,
    hub,
    image: markOf(connector),
    authentication: auth.type,
    authorizes: isAuthorized,
    fields: fields.map(toConfigurationField),
    documentation: documentation.map(({ title, url }) => ({ title, url })),
  };
}
