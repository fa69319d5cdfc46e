import type { Clock } from '../clock.ts';
import type { NativeEnd } from '../connector/index.ts';
import type { Instance } from '../instances/instance.ts';
import type { Logger } from '../log.ts';
import type { Resources } from '../resources/index.ts';
import type { BulkJob } from './job.ts';

export interface ForgetPorts {
  readonly resources: Pick<Resources, 'endNative'>;
  /**
   * Returns an instance.
   * @throws AppError NOT_FOUND
   */
  readonly getInstance: (accountId: number, id: number) => Promise<Instance>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Bulk job together with the provider's job that reads or writes its rows. */
export type NativeOwner = Pick<BulkJob, 'accountId' | 'instanceId' | 'id' | 'direction' | 'objectName' | 'nativeJob'>;

export type NativeEndHow = Omit<NativeEnd, 'id'>;

const ABILITIES = { DOWNLOAD: 'query', UPLOAD: 'ingest' } as const;

const MOST_MS = 1_000;

/**
 * Removes the provider's job of a bulk job, if there is one. A job that is not done is stopped first. It takes a second at most and never
 * rejects, because providers remove their jobs later by themselves.
 */
export async function forgetNative(
  { resources, getInstance, clock, log }: ForgetPorts,
  { accountId, instanceId, id: jobId, direction, objectName, nativeJob }: NativeOwner,
  how: NativeEndHow,
): Promise<void> {
  if (nativeJob === null) return;
  const end = new AbortController();
  const endWait = clock.after(MOST_MS, () => end.abort(new Error('The provider took more than a second.')));
  try {
    const instance = await getInstance(accountId, instanceId);
    await resources.endNative(
      { instance, objectName, signal: end.signal },
      { ...how, id: nativeJob, ability: ABILITIES[direction] },
    );
  } catch (err) {
    log.info({ err, accountId, jobId, nativeJob }, 'could not delete a job at the provider');
  } finally {
    endWait();
    end.abort();
  }
}
