import { withQuery } from '../parts/query.ts';

/** The page of a job. */
export function pathOfJob(id: number, instanceId: number): string {
  return withQuery(`/console/bulk/${id}`, { instance: String(instanceId) });
}

/** The jobs of an instance. */
export function pathOfJobs(instanceId: number): string {
  return withQuery('/console/bulk', { instance: String(instanceId) });
}

/** An id in an address; undefined for anything else. */
export function readId(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
