import { withQuery } from '../parts/query.ts';

/** Returns the path of the page of a job. */
export function pathOfJob(id: number, instanceId: number): string {
  return withQuery(`/console/bulk/${id}`, { instance: String(instanceId) });
}

/** Returns the path of the list of jobs of an instance. */
export function pathOfJobs(instanceId: number): string {
  return withQuery('/console/bulk', { instance: String(instanceId) });
}

/** Returns the id in a part of an address. Undefined for any other text. */
export function readId(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
