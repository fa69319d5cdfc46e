import type { Config, Connector } from '../connector/contract.ts';
import { AppError, isAppError } from '../errors.ts';
import type { Notifications } from '../events/notifications/notifications.ts';
import { assertAsked, secretKeys } from '../instances/configuration.ts';
import type { Instance } from '../instances/instance.ts';
import type { AlongWith, Instances } from '../instances/instances.ts';
import type { AuthorizationCaller } from '../instances/oauth/authorizations.ts';
import { OAUTH_KEYS } from '../instances/oauth/fields.ts';
import type { Proxies } from '../instances/oauth/proxies/proxies.ts';
import type { OAuthProxy } from '../instances/oauth/proxies/proxy.ts';
import type { Platform } from '../platform.ts';
import { createRedactor } from '../redaction.ts';
import { chooseOffered, listOffered, type OfferNeighbours, offerOf } from './offer.ts';
import type { Origins } from './origins.ts';
import { assertOpen, endedStatus, type PageSession, refuseEnded, returnUrlOf, toSessionError } from './session.ts';
import { createSessionStore } from './session-store.ts';
import { contextOf } from './sessions.ts';

/** The input of a user who connects an account. */
export interface PageInput {
  readonly elementKey: string;
  readonly configuration: Config;
  readonly name?: string | undefined;
}

export interface Connected {
  readonly instanceId: number;
  readonly returnUrl: string | undefined;
}

/** The result with which a session ends. */
interface Ending {
  readonly configuration: Config;
  /** The parameters that a provider sent with a browser, by name. */
  readonly providerData?: Readonly<Record<string, string>>;
  readonly name: string | undefined;
  readonly signal: AbortSignal;
}

/** Steps that complete a session, from its offer to the connected instance. */
export type Completion = ReturnType<typeof createCompletion>;

interface Noted {
  readonly connector: Connector;
  /** Configuration, whose secrets are removed before an error is stored. */
  readonly configuration: Config;
}

export interface CompletionNeighbours extends OfferNeighbours {
  readonly instances: Pick<Instances, 'get' | 'create' | 'update'>;
  readonly proxies: Pick<Proxies, 'get' | 'findByUrl'>;
  readonly notifications: Pick<Notifications, 'prepare'>;
  readonly origins: Pick<Origins, 'of'>;
}

export function createCompletion(
  { knex, keyring, clock }: Pick<Platform, 'knex' | 'keyring' | 'clock'>,
  neighbours: CompletionNeighbours,
) {
  const { instances, proxies, notifications, origins } = neighbours;
  const store = createSessionStore(knex);

  /** Returns the proxy of the session, or the one with which the instance was created. */
  async function proxyOf(session: PageSession, earlier: Instance | undefined): Promise<OAuthProxy | undefined> {
    const caller = callerOf(session);
    if (session.proxyId !== null) return proxies.get(caller, session.proxyId);
    const url = earlier?.config[OAUTH_KEYS.callbackUrl];
    return typeof url === 'string' ? proxies.findByUrl(caller, url) : undefined;
  }

  async function readGiven(session: PageSession) {
    const { accountId, reauthenticates, instanceId, configuration } = session;
    const earlier = reauthenticates && instanceId !== null ? await instances.get(accountId, instanceId) : undefined;
    const proxy = await proxyOf(session, earlier);
    const fixed: Config = JSON.parse(keyring.decrypt(configuration, contextOf(session)));
    return { proxy, earlier, given: { fixed, earlier: earlier?.config ?? {}, hasProxy: proxy !== undefined } };
  }

  const listElements = ({ accountId, elements }: PageSession) => listOffered(neighbours, accountId, elements);

  async function returnUrl(session: PageSession): Promise<string | undefined> {
    const url = returnUrlOf(session, clock.now());
    if (url === undefined) return undefined;
    return (await origins.of(session.organizationId)).includes(new URL(url).origin) ? url : undefined;
  }

  async function noting<Result>(
    session: PageSession,
    { connector, configuration }: Noted,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!isAppError(error) || error.code === 'INTERNAL') throw error;
      const secrets = [...secretKeys(connector)].map((key) => String(configuration[key] ?? ''));
      await store.noteError(session, toSessionError(error, createRedactor(secrets)));
      throw error;
    }
  }

  return {
    /** Forgets the error of an earlier attempt. */
    forgetError: (session: PageSession) => store.noteError(session, null),

    /** Returns the offers of a session: all its elements, each with the fields to fill in. */
    offersOf: async (session: PageSession) => {
      const { given } = await readGiven(session);
      return (await listElements(session)).map((connector) => offerOf(connector, given));
    },

    /**
     * Returns the chosen offer with the settings of the session.
     * @throws AppError CONFLICT for a session that has ended; REQUEST_INVALID for values that the form does not have
     */
    choose: async (session: PageSession, { elementKey, configuration, name }: PageInput) => {
      assertOpen(session, clock.now());
      if (name !== undefined && session.name !== null) throw nameFixed();
      const { given, ...around } = await readGiven(session);
      const offer = offerOf(chooseOffered(await listElements(session), elementKey), given);
      assertAsked(offer.connector, offer.fields, configuration);
      return { ...offer, ...around };
    },

    /**
     * Verifies the settings with the provider, and stores the instance, the event and the end of the session in one transaction. Of several
     * concurrent calls, one succeeds. After an error the session stays open and keeps the error.
     * @throws AppError as the creation of instances; CONFLICT for a session that has ended
     */
    complete: (
      session: PageSession,
      connector: Connector,
      { configuration, providerData, name: givenName, signal }: Ending,
    ) =>
      noting(session, { connector, configuration }, async () => {
        const { accountId, reauthenticates, instanceId, tags } = session;
        const elementKey = connector.key;
        const publish = await notifications.prepare(accountId);
        const along: AlongWith = async (via, { id, name }) => {
          const at = new Date(clock.now());
          const isFirst = await store.complete(via, session, { instanceId: id, elementKey, at });
          if (!isFirst) refuseEnded(endedStatus(await store.find(via, session)));
          const data = { sessionId: session.id, instanceId: id, elementKey, name, reauthenticated: reauthenticates };
          await publish(via, 'instance.connected', data);
        };
        const caller = callerOf(session);
        const settings = { configuration, providerData };
        const name = session.name ?? givenName ?? connector.name;
        const { id } =
          reauthenticates && instanceId !== null
            ? await instances.update(caller, instanceId, settings, signal, along)
            : await instances.create(caller, { element: elementKey, name, tags, ...settings }, signal, along);
        return {
          instanceId: id,
          returnUrl: await returnUrl({ ...session, status: 'completed', instanceId: id }),
        };
      }),

    /** Runs work and stores its error with the session, for the server that created the session. */
    noting,
    /** Returns where the browser goes after the session. Undefined when the origin was removed in the meantime. */
    returnUrl,
  };
}

/** Returns the user who created the session. Its page acts for this user, within the limits of the session. */
export function callerOf({ organizationId, accountId, userId }: PageSession): AuthorizationCaller {
  return { organizationId, accountId, userId };
}

function nameFixed(): AppError {
  const message = 'body.name is fixed by the session. Leave it out.';
  return new AppError('REQUEST_INVALID', message, { details: [{ path: '/body/name', message }] });
}
