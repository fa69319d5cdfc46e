import { withQuery } from '../parts/query.ts';

/** The page of a job. */
export function pathOfJob(id: number, instanceId: number): string {
  return withQuery(`/console/bulk/${id}`, { instance: String(instanceId) });
}

/** The jobs of an instance. */
export function pathOfJobs(instanceId: number): string {
  return withQuery('/console/bulk', { instance: String(instanceId) });
}
