import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '../bounded.ts';
import type { Clock } from '../clock.ts';
import { AppError, isAppError } from '../errors.ts';
import { inSeconds } from './rate-limits.ts';

interface GuessingNetwork {
  failures: number;
  blockedUntilMs: number;
  /** Secrets that are being looked up, and for how many requests. */
  readonly underWay: Map<string, number>;
}

/** Number of failures without a delay, for mistyped secrets, or for a deployment that does not have its new secret yet. */
const FREE_FAILURES = 20;
const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 64_000;
const FORGET_MS = 15 * 60_000;
/** A server that begins to call for all of its users at once. */
const MOST_UNDER_WAY = 200;

const KEPT_NETWORKS = 20_000;
const KEPT_SECRETS = 100_000;
const KNOWN_MS = 24 * 60 * 60_000;

/**
 * Slows down callers who guess secrets, because every look-up of a wrong secret costs a query. It counts failures by network. After a
 * few of them, each further failure doubles the time that the next look-up from this network waits. Only look-ups wait: secrets that
 * were valid in the last day pass, so that a guesser does not lock out others behind the same address. A valid secret does not reset
 * the failures, or a guesser who owns one could continue without limit.
 *
 * Both tables are bounded. To push one network out, a guesser needs failures from 20,000 others.
 */
export function createFailedAuthorizations({ steady }: Clock) {
  const exactly = { perf: { now: steady }, ttlResolution: 0 };
  const networks = new LRUCache<string, GuessingNetwork>({ ...atMost(KEPT_NETWORKS), ttl: FORGET_MS, ...exactly });
  // Not the secrets themselves: nothing needs them for a day.
  const salt = randomBytes(16).toString('base64');
  const known = new LRUCache<string, true>({ ...atMost(KEPT_SECRETS), ttl: KNOWN_MS, ...exactly });

  function assertAllowed({ failures, blockedUntilMs, underWay }: GuessingNetwork, key: string): void {
    // Many requests may wait for one look-up.
    if (underWay.has(key)) return;
    const waitMs = blockedUntilMs - steady();
    if (waitMs > 0) throw tooManyFailures(waitMs);
    const most = failures < FREE_FAILURES ? MOST_UNDER_WAY : 1;
    if (underWay.size >= most) throw tooManyFailures(FIRST_DELAY_MS);
  }

  const stateOf = (name: string): GuessingNetwork =>
    networks.get(name) ?? { failures: 0, blockedUntilMs: 0, underWay: new Map() };

  function noteFailure(name: string): void {
    const network = stateOf(name);
    network.failures += 1;
    const doublings = network.failures - FREE_FAILURES;
    if (doublings >= 0) network.blockedUntilMs = steady() + Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** doublings);
    // For its time from now on.
    networks.set(name, network);
  }

  /**
   * Counts a look-up in progress.
   * @returns the function that ends it
   */
  function enter(name: string, key: string): () => void {
    const network = stateOf(name);
    const { underWay } = network;
    assertAllowed(network, key);
    underWay.set(key, (underWay.get(key) ?? 0) + 1);
    if (!networks.has(name)) networks.set(name, network);
    return () => {
      const left = (underWay.get(key) ?? 1) - 1;
      if (left > 0) underWay.set(key, left);
      else underWay.delete(key);
      if (network.failures === 0 && underWay.size === 0) networks.delete(name);
    };
  }

  return {
    /**
     * Looks up secrets for a network, if its number of failures allows it. A `lookUp` that rejects with UNAUTHENTICATED is a failure.
     * @throws AppError RATE_LIMITED without a look-up; the errors of `lookUp`
     */
    attempt: async <Found>(
      { network: name, secrets }: { readonly network: string; readonly secrets: string },
      lookUp: () => Promise<Found>,
    ): Promise<Found> => {
      const key = hash('sha256', salt + secrets, 'base64');
      const isKnown = known.has(key);
      const leave = isKnown ? undefined : enter(name, key);
      try {
        const found = await lookUp();
        if (!isKnown) known.set(key, true);
        return found;
      } catch (error) {
        if (isAppError(error, 'UNAUTHENTICATED')) {
          known.delete(key);
          noteFailure(name);
        }
        throw error;
      } finally {
        leave?.();
      }
    },
  };
}

function tooManyFailures(waitMs: number): AppError {
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const message = `Too many requests with wrong secrets came from this address. Try again in ${inSeconds(retryAfterSeconds)}.`;
  const budget = { limit: FREE_FAILURES, remaining: 0, resetSeconds: retryAfterSeconds };
  return new AppError('RATE_LIMITED', message, { retryAfterSeconds, budget });
}
