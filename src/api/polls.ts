import type { Platform } from '../platform.ts';
import type { PollRow } from '../polls/poll-store.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationResult } from './operation.ts';
import { fieldsOf, listRows } from './row-listing.ts';

type PollView = OperationResult<'runInstancePoll'>;

const POLLS = fieldsOf('Poll');

export function createPollHandlers({ polls }: ApiServices, { keys, clock }: Platform) {
  async function list(accountId: number, instanceId: number): Promise<PollView[]> {
    return (await polls.list(accountId, instanceId)).map((poll) => toPollView(poll, clock.now()));
  }

  async function show(accountId: number, instanceId: number, resource: string): Promise<PollView> {
    const found = (await list(accountId, instanceId)).find((poll) => poll.resource === resource);
    if (found === undefined) throw new Error('The poll was removed at this moment.');
    return found;
  }

  return {
    listInstancePolls: async ({ principal: { accountId }, path: { id }, ...request }) =>
      listRows(keys, await list(accountId, id), request, {
        queryable: POLLS,
        positionOf: ({ resource }) => resource,
        context: ['polls', accountId, id],
      }),

    runInstancePoll: async ({ principal: { accountId }, path: { id: instanceId, resource } }) => {
      await polls.runNow({ accountId, instanceId, resource });
      return { body: await show(accountId, instanceId, resource) };
    },

    replayInstancePoll: async ({ principal: { accountId }, path: { id: instanceId, resource }, body }) => {
      await polls.replay({ accountId, instanceId, resource }, new Date(body.from));
      return { body: await show(accountId, instanceId, resource) };
    },
  } satisfies Partial<Handlers>;
}

function toPollView(poll: PollRow, nowMs: number): PollView {
  const { due, leaseUntil, kind, watermark, feedWatermark, lastRunAt, lastSuccessAt, lastError } = poll;
  const isRunning = leaseUntil !== null && leaseUntil.getTime() > nowMs;
  // A poll that reads all records has seen everything that existed when it began.
  const reached = { window: watermark, feed: feedWatermark, snapshot: lastSuccessAt }[kind ?? 'window'];
  return {
    resource: poll.resource,
    state: isRunning ? 'running' : due === null ? 'stopped' : 'waiting',
    ...(kind !== null && { method: kind }),
    ...(kind !== null && reached !== null && { watermark: reached.toISOString() }),
    intervalSeconds: poll.intervalMs / 1000,
    ...(lastRunAt !== null && { lastRunDate: lastRunAt.toISOString() }),
    ...(lastSuccessAt !== null && { lastSuccessDate: lastSuccessAt.toISOString() }),
    ...(due !== null && {
      nextRunDate: due.toISOString(),
      lagSeconds: isRunning ? 0 : Math.max(0, (nowMs - due.getTime()) / 1000),
    }),
    ...(lastError !== null && { lastError }),
    failures: poll.failures,
    runs: poll.runs,
    emptyRuns: poll.emptyRuns,
    providerCalls: poll.providerCalls,
    events: poll.events,
    createdDate: poll.createdAt.toISOString(),
  };
}
