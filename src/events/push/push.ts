import type { Logger } from '../../log.ts';
import type { Lease } from '../lease.ts';
import type { DeliverySettings, EventSource, FindSource, ReadySubscription } from '../model.ts';
import type { EngineOptions } from '../options.ts';
import type { AttemptRecord, NextRow } from '../outcomes/outcome-store.ts';
import type { Outcome } from '../outcomes/outcomes.ts';
import type { Attempt, AttemptReport, FailureClass } from './attempt.ts';
import type { PushResult } from './dispatch.ts';
import { nextState, type Transition } from './transition.ts';

export interface PushPorts {
  readonly attempt: Attempt;
  readonly findSubscription: (accountId: number, id: number) => Promise<ReadySubscription | undefined>;
  readonly findSource: FindSource;
  readonly settings: (accountId: number) => Promise<DeliverySettings>;
  readonly hand: (outcome: Outcome) => void;
  readonly onAttempt: (report: AttemptReport, acceptedAtMs: number | undefined) => void;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly log: Logger;
  readonly options: Pick<EngineOptions, 'schedules'>;
}

/** How long a delivery waits when something of ours failed before it was sent. */
const OWN_FAILURE_PAUSE_MS = 2_000;

const HARD: ReadonlySet<FailureClass> = new Set(['timeout', 'connect']);

/** Takes the longer schedule when the settings cannot be read: better a retry too many than an end too early. */
const CAREFUL_SETTINGS: DeliverySettings = { failurePolicy: 'retry', retryCount: 9 };

/** One lease from its push to its outcome. */
export function createPush(ports: PushPorts): (lease: Lease) => Promise<PushResult> {
  const { now, log, hand } = ports;

  function release(lease: Lease, dueAtMs: number): PushResult {
    hand({ kind: 'released', lease, dueAt: new Date(dueAtMs) });
    return { kind: 'released' };
  }

  async function findSource({ accountId, instanceId }: Lease): Promise<EventSource | undefined> {
    return instanceId === undefined ? undefined : ports.findSource(accountId, instanceId);
  }

  async function settingsOf(accountId: number): Promise<DeliverySettings> {
    try {
      return await ports.settings(accountId);
    } catch (error) {
      log.warn({ err: error, accountId }, 'could not read the settings of an account');
      return CAREFUL_SETTINGS;
    }
  }

  async function settle(lease: Lease, report: AttemptReport): Promise<PushResult> {
    ports.onAttempt(report, lease.acceptedAtMs);
    if (report.kind === 'aborted') return release(lease, now());
    const attempt = toRecord(report);
    if (report.kind === 'delivered') {
      hand({ kind: 'delivered', lease, attempt });
      return { kind: 'delivered', durationMs: report.durationMs };
    }
    const transition = nextState({
      progress: lease,
      result: { delivered: false, retryAfterMs: report.retryAfterMs },
      settings: await settingsOf(lease.accountId),
      schedules: ports.options.schedules,
      nowMs: now(),
      random: ports.random,
    });
    const kind = transition.kind === 'queued' && transition.exhausted ? 'exhausted' : 'failed';
    hand({ kind, lease, attempt, next: toNextRow(transition) });
    return { kind: 'failed', hard: HARD.has(report.failure) };
  }

  return async (lease) => {
    try {
      const subscription = await ports.findSubscription(lease.accountId, lease.subscriptionId);
      // The statement that takes it back sees that the subscription is deactivated, and queues it.
      if (subscription?.state !== 'active') return release(lease, now());
      const source = await findSource(lease);
      return await settle(lease, await ports.attempt({ lease, subscription, source }));
    } catch (error) {
      log.error({ err: error, deliveryId: lease.id, accountId: lease.accountId }, 'a delivery could not be pushed');
      return release(lease, now() + OWN_FAILURE_PAUSE_MS);
    }
  };
}

function toRecord(report: Exclude<AttemptReport, { kind: 'aborted' }>): AttemptRecord {
  const { attemptedAtMs, durationMs, statusCode, answer } = report;
  const error = report.kind === 'failed' ? `${report.failure}: ${report.error}` : undefined;
  return { attemptedAt: new Date(attemptedAtMs), durationMs, statusCode, answer, error };
}

function toNextRow(transition: Transition): NextRow {
  if (transition.kind === 'delivered') throw new Error('A failed attempt delivered nothing');
  const { retries, firstFailedAtMs } = transition;
  const firstFailedAt = firstFailedAtMs === undefined ? undefined : new Date(firstFailedAtMs);
  if (transition.kind === 'queued') return { state: 'queued', dueAt: undefined, retries, firstFailedAt };
  return { state: 'waiting', dueAt: new Date(transition.dueAtMs), retries, firstFailedAt };
}
