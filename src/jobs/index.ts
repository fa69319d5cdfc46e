import type { Role } from '../config/index.ts';
import type { Platform } from '../platform.ts';
import { createJobs } from './jobs.ts';
import { createQueues, type Maintenance } from './queues.ts';

export interface JobSettings {
  readonly url: string;
  readonly role: Role;
}

/** Creates the scheduled jobs on PostgreSQL. `maintenance` has the work behind the queues. */
export function composeJobs({ log, clock }: Platform, maintenance: Maintenance, { url, role }: JobSettings) {
  return createJobs({ url, log, clock, role, queues: createQueues(clock, maintenance) });
}
