import { type Clock, sleep } from '../clock.ts';
import type { Instance } from '../instances/instance.ts';
import type { Logger } from '../log.ts';
import type { Resources } from '../resources/index.ts';
import type { AwaitingPoll, PollKey, PollScope, PollStore } from './poll-store.ts';

export interface MissingMappingPorts {
  readonly store: Pick<PollStore, 'findAwaiting' | 'resume'>;
  readonly resources: Pick<Resources, 'mappingVersionOf'>;
  readonly getInstances: (
    keys: readonly { readonly accountId: number; readonly id: number }[],
  ) => Promise<readonly Instance[]>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when polls are due again. */
  readonly wake: () => void;
}

/** Polls of one statement. */
const BATCH = 500;
const RETRY_MS = 1_000;
/** All polls. */
const EVERYWHERE: PollScope = {};

/**
 * Resumes polls that are stopped because nothing maps their object, once something does. It looks at the database only when mappings
 * change, when messages about changes may have been missed, and at the start.
 */
export function createMissingMappings({ store, resources, getInstances, clock, log, wake }: MissingMappingPorts) {
  const stopping = new AbortController();
  /** Where mappings may be back, by key. Messages come in bursts. */
  let changed = new Map<string, PollScope>();
  let resuming: Promise<void> | undefined;

  async function resumeChanged(): Promise<void> {
    while (changed.size > 0 && !stopping.signal.aborted) {
      const scopes = changed;
      changed = new Map();
      try {
        for (const scope of scopes.has(keyOf(EVERYWHERE)) ? [EVERYWHERE] : scopes.values()) await resumeIn(scope);
      } catch (error) {
        log.warn({ err: error }, 'could not resume the polls of mapped objects; trying again');
        changed = new Map([...scopes, ...changed]);
        await sleep(clock, RETRY_MS, stopping.signal).catch(() => undefined);
      }
    }
  }

  async function resumeIn(scope: PollScope): Promise<void> {
    let after: PollKey | undefined = { accountId: 0, instanceId: 0, resource: '' };
    while (after !== undefined) {
      const polls = await store.findAwaiting(scope, { after, limit: BATCH });
      await resumeMapped(polls);
      after = polls.length < BATCH ? undefined : polls.at(-1);
    }
  }

  async function resumeMapped(polls: readonly AwaitingPoll[]): Promise<void> {
    if (polls.length === 0) return;
    const keys = new Map(polls.map(({ accountId, instanceId: id }) => [`${accountId}:${id}`, { accountId, id }]));
    const found = await getInstances([...keys.values()]);
    const instances = new Map(found.map((instance) => [`${instance.accountId}:${instance.id}`, instance]));
    const mapped: AwaitingPoll[] = [];
    for (const poll of polls) {
      const instance = instances.get(`${poll.accountId}:${poll.instanceId}`);
      if (instance === undefined) continue;
      if ((await resources.mappingVersionOf(instance, poll.mappedObject)) !== undefined) mapped.push(poll);
    }
    if (mapped.length > 0 && (await store.resume(mapped, new Date(clock.now()))) > 0) wake();
  }

  return {
    /** Notes that the mappings of an owner changed, or that a poll of an instance was stopped. Default: any may have changed. */
    noteChange: (scope: PollScope = EVERYWHERE): void => {
      changed.set(keyOf(scope), scope);
      resuming ??= resumeChanged().finally(() => {
        resuming = undefined;
      });
    },
    stop: async (): Promise<void> => {
      stopping.abort();
      await resuming;
    },
  };
}

function keyOf({ organizationId, accountId, instanceId }: PollScope): string {
  return JSON.stringify([organizationId, accountId, instanceId]);
}
