import type { PreparedEvents } from '../events/accept/accept.ts';
import type { NewEvent } from '../events/model.ts';
import type { Instance } from '../instances/instance.ts';
import type { Platform } from '../platform.ts';
import type { BulkStore, Checkpoint } from './bulk-store.ts';
import { fenced } from './file-writer.ts';
import { type BulkJob, type ClaimedJob, type JobFault, JobLost } from './job.ts';
import { fileNameOf, statusOf } from './status.ts';

export interface EndPorts {
  readonly store: Pick<BulkStore, 'transaction' | 'checkpoint' | 'end' | 'find'>;
  readonly clock: Pick<Platform['clock'], 'now'>;
  /** Prepares events for storage; provided by the event engine. */
  readonly prepare: (events: readonly NewEvent[]) => Promise<PreparedEvents>;
  /**
   * Returns an instance.
   * @throws AppError NOT_FOUND
   */
  readonly getInstance: (accountId: number, id: number) => Promise<Instance>;
  /** Called for each job that ends. */
  readonly noteEnded: (accountId: number, elementKey: string) => void;
}

/** End of a job, with or without a last checkpoint of its file. */
type JobEnd =
  | { readonly last: Checkpoint; readonly fault?: JobFault | undefined; readonly providerCalls?: never }
  | { readonly fault: JobFault; readonly last?: never; readonly providerCalls: number };

/** Stores the end of a job together with the event that reports it, exactly once. @throws JobLost */
export async function endJob(
  { store, clock, prepare, getInstance, noteEnded }: EndPorts,
  job: ClaimedJob,
  { last, fault, providerCalls = 0 }: JobEnd,
): Promise<void> {
  const now = new Date(clock.now());
  const stored = await store.find(job);
  if (stored === undefined) throw new JobLost();
  const { connector } = await getInstance(job.accountId, job.instanceId);
  const ended: BulkJob = {
    ...stored,
    ...last,
    status: fault === undefined ? 'COMPLETED' : 'FAILED',
    code: fault?.code ?? null,
    message: fault?.message ?? null,
    providerCalls: stored.providerCalls + (last?.providerCalls ?? providerCalls),
    finishedAt: now,
  };
  const events = await prepare([eventOf(ended)]);
  await fenced(store, async (via) => {
    if (last !== undefined && !(await store.checkpoint(via, job, last))) return false;
    if (!(await store.end(via, job, { now, fault, providerCalls }))) return false;
    await events.insert(via);
    return true;
  });
  events.committed();
  noteEnded(job.accountId, connector.key);
}

function eventOf(job: BulkJob): NewEvent {
  const { accountId, instanceId, id, objectName, callbackUrl, status, finishedAt } = job;
  return {
    accountId,
    instanceId,
    type: status === 'COMPLETED' ? 'bulk.completed' : 'bulk.failed',
    objectName,
    objectId: String(id),
    object: statusOf(job),
    record: { objectName: 'bulk', id: String(id), name: fileNameOf(job) },
    ...(finishedAt !== null && { timestamp: finishedAt }),
    ...(callbackUrl !== null && { callbackUrl }),
  };
}
