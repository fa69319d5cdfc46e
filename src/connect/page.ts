import type { Knex } from 'knex';
import type { Accounts } from '../accounts/accounts.ts';
import type { Privilege } from '../accounts/privileges.ts';
import type { Connector } from '../connector/contract.ts';
import { changeInTurn } from '../db/change.ts';
import { AppError } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { type Brandings, logoOriginOf } from './branding.ts';
import type { Branding } from './branding-store.ts';
import { type CompletionNeighbours, createCompletion, type PageInput } from './completion.ts';
import { createDepartures, type DepartureNeighbours } from './departures.ts';
import type { Offer } from './offer.ts';
import { readClaim, refusalOf } from './refusals.ts';
import { assertOpen, CANCELLED, endedStatus, type PageSession, refuseEnded, statusOf } from './session.ts';
import { createSessionStore } from './session-store.ts';

export interface Description {
  readonly session: PageSession;
  /** Offers of the session; empty when it has ended. */
  readonly offers: readonly Offer[];
  /** Origin of the page that a session returns to; undefined without a return URL. */
  readonly returnsTo: string | undefined;
  /** Return URL of a session that has ended. */
  readonly returnUrl: string | undefined;
  /** Origins whose pages may receive the outcome of the session. */
  readonly origins: readonly string[];
  readonly branding: Branding;
}

/**
 * Operations of a session's page. The holder of the key acts for the user who created the session, within its limits.
 */
export type ConnectPage = ReturnType<typeof createConnectPage>;

export interface PageNeighbours extends CompletionNeighbours, Omit<DepartureNeighbours, 'completion' | 'findSession'> {
  readonly accounts: Pick<Accounts, 'findActing'>;
  readonly brandings: Pick<Brandings, 'shownIn'>;
}

/** The privilege that the creator of a session needs, whenever its page is used. */
const NEEDED: Privilege = 'createElementInstances';
const KEY = /^[\w-]{43}$/;

export function createConnectPage(
  platform: Pick<Platform, 'knex' | 'shares' | 'keyring' | 'keys' | 'random' | 'clock'>,
  neighbours: PageNeighbours,
) {
  const { knex, shares, keys, clock } = platform;
  const store = createSessionStore(knex);
  const completion = createCompletion(platform, neighbours);

  async function find(key: string): Promise<PageSession | undefined> {
    if (!KEY.test(key)) return undefined;
    const row = await shares.lookUp('stranger', () => store.findByKeyHash(keys.lookupHash(key)));
    if (row === undefined) return undefined;
    const maker = await neighbours.accounts.findActing(row);
    return maker?.privileges.has(NEEDED) ? { ...row, key } : undefined;
  }

  const brandingOf = ({ organizationId, branding }: PageSession) =>
    neighbours.brandings.shownIn(organizationId, branding);

  return {
    ...createDepartures(platform, { ...neighbours, completion, findSession: find }),

    /**
     * Finds a session. Undefined for an unknown session, and when the user who created it may no longer create instances of the account.
     */
    find,

    /** Returns the origins whose pages may embed the page, the origin of its logo, and its language if one is set. */
    looksOf: async (session: PageSession) => {
      const branding = await brandingOf(session);
      const frames = await neighbours.origins.of(session.organizationId);
      return { frames, images: logoOriginOf(branding), language: branding.language };
    },

    /**
     * Returns the first claimed origin whose page may not embed this one, and stores the refusal for the server that created the session.
     * @returns undefined if all may embed it; claims that are no origins are ignored
     */
    refuse: async (session: PageSession, claims: readonly string[]) => {
      if (claims.length === 0) return undefined;
      const registered = await neighbours.origins.of(session.organizationId);
      const [refusal] = claims.flatMap((claim) => refusalOf(readClaim(claim), registered) ?? []);
      if (refusal !== undefined) await store.noteRefusal(session, refusal.origin, new Date(clock.now()));
      return refusal;
    },

    describe: async (session: PageSession) => ({
      session,
      offers: statusOf(session, clock.now()) === 'open' ? await completion.offersOf(session) : [],
      returnsTo: session.redirectUrl === null ? undefined : new URL(session.redirectUrl).origin,
      returnUrl: await completion.returnUrl(session),
      origins: await neighbours.origins.of(session.organizationId),
      branding: await brandingOf(session),
    }),

    /**
     * Connects an account with the user's input.
     * @throws AppError as the creation of instances; CONFLICT for a session that has ended
     */
    connect: async (session: PageSession, { name, ...input }: PageInput, signal: AbortSignal) => {
      const { connector, isAuthorized, fixed } = await completion.choose(session, { name, ...input });
      if (isAuthorized) throw mustAuthorize(connector);
      return completion.complete(session, connector, {
        configuration: { ...input.configuration, ...fixed },
        name,
        signal,
      });
    },

    /**
     * Cancels the session for the user.
     * @returns the URL to which the browser is redirected
     * @throws AppError CONFLICT
     */
    cancel: async (session: PageSession) => {
      assertOpen(session, clock.now());
      const at = new Date(clock.now());
      const cancel = async (via: Knex) => {
        if (!(await store.fail(via, session, CANCELLED, at))) refuseEnded(endedStatus(await store.find(via, session)));
      };
      await changeInTurn(knex, cancel, () => ({ targetId: String(session.id), changes: { status: 'failed' } }));
      return completion.returnUrl({ ...session, status: 'failed' });
    },
  };
}

function mustAuthorize({ name }: Connector): AppError {
  const message = `To connect an account of ${name}, authorize there. POST /connect/session/authorization returns the URL.`;
  return new AppError('REQUEST_INVALID', message);
}
