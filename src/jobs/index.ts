import type { Role } from '../config/index.ts';
import type { OpenedPlatform } from '../platform.ts';
import type { HandOutPorts } from './hand-out.ts';
import { createJobs } from './jobs.ts';
import { createQueues, type Maintenance } from './queues.ts';

interface JobSettings {
  readonly url: string;
  readonly role: Role;
  readonly countWorkers: HandOutPorts['countWorkers'];
}

/** Creates the scheduled jobs on PostgreSQL. `maintenance` has the work behind the queues. */
export function composeJobs(platform: OpenedPlatform, maintenance: Maintenance, settings: JobSettings) {
  const { log, clock } = platform;
  const { url, role, countWorkers } = settings;
  const handOut = { ...platform, countWorkers };
  return createJobs({ url, log, clock, role, queues: createQueues(clock, maintenance), handOut });
}
