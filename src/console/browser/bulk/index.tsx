import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import { useQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import type { PageProps } from '../places.ts';
import { JobPage } from './job.tsx';
import { JobList } from './jobs.tsx';

/** The bulk jobs of an instance, or one of them: `/console/bulk/{id}?instance={instanceId}`. */
export function Bulk({ below }: PageProps) {
  const { query, change } = useQuery();
  const instances = useInstances();
  const [first, ...more] = instances.value ?? [];
  const only = first !== undefined && more.length === 0 ? String(first.id) : undefined;
  const instance = query.instance ?? only;
  const instanceId = Number(instance);
  const isChosen = instance !== undefined && Number.isSafeInteger(instanceId) && instanceId > 0;

  if (below !== undefined && isChosen) return <JobPage key={below} id={Number(below)} instanceId={instanceId} />;
  return (
    <div class="stack">
      <h1>Bulk</h1>
      <div class="columns">
        <InstanceChoice
          instances={instances}
          value={instance}
          onChange={(id) => change({ instance: id })}
          none="Choose an instance"
        />
      </div>
      <Show loaded={instances}>
        {(all) => {
          if (isChosen) return <JobList key={instanceId} instanceId={instanceId} />;
          if (all.length > 0) return <Empty title="Choose an instance to see its bulk jobs." />;
          return (
            <Empty title="Bulk jobs read or write many records of a connected account.">
              <a href="/console/instances/new">Connect an account</a>
            </Empty>
          );
        }}
      </Show>
    </div>
  );
}
