import type { PageProps } from '../navigation.ts';
import { useQuery } from '../parts/query.ts';
import { JobPage } from './job.tsx';
import { JobList } from './jobs.tsx';
import { readId } from './paths.ts';

/** Shows the bulk jobs of all instances, or one of them: `/console/bulk/{id}?instance={instanceId}`. */
export function Bulk({ below }: PageProps) {
  const { query } = useQuery();
  const instanceId = readId(query.instance);
  if (below === undefined || instanceId === undefined) return <JobList />;
  return <JobPage key={`${instanceId} ${below}`} id={Number(below)} instanceId={instanceId} />;
}
