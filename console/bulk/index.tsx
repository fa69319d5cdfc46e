import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import { useQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import type { PageProps } from '../places.ts';
import { JobPage } from './job.tsx';
import { JobList } from './jobs.tsx';

/** The bulk jobs of an instance, or one of them: `/console/bulk/{id}?instance={instanceId}`. */
export function Bulk({ below }: PageProps) {
  const { query } = useQuery();
  const instanceId = readId(query.instance);
  if (below === undefined || instanceId === undefined) return <Jobs />;
  return <JobPage key={`${instanceId} ${below}`} id={Number(below)} instanceId={instanceId} />;
}

/** The only instance that there is need not be chosen. */
function Jobs() {
  const { query, change } = useQuery();
  const instances = useInstances();
  const [first, ...more] = instances.value ?? [];
  const only = more.length === 0 ? first?.id : undefined;
  const instanceId = readId(query.instance) ?? only;
  return (
    <div class="stack">
      <h1>Bulk</h1>
      <div class="columns">
        <InstanceChoice
          instances={instances}
          value={instanceId?.toString()}
          onChange={(id) => change({ instance: id })}
          none="Choose an instance"
        />
      </div>
      {instanceId !== undefined ? (
        <JobList key={instanceId} instanceId={instanceId} />
      ) : (
        <Show loaded={instances}>
          {(all) =>
            all.length > 0 ? (
              <Empty title="Choose an instance to see its bulk jobs." />
            ) : (
              <Empty title="Bulk jobs read or write many records of a connected account.">
                <a href="/console/instances/new">Connect an account</a>
              </Empty>
            )
          }
        </Show>
      )}
    </div>
  );
}

function readId(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}
