import { useEffect, useState } from 'preact/hooks';
import { api, askPage, type Instance, type Schemas } from '../api.ts';
import type { Loaded } from '../load.ts';
import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import { sayBytes, sayNumber } from '../parts/number.ts';
import { Pager, usePages } from '../parts/pages.tsx';
import { type AddressQuery, useQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { isUnderWay, type Job, JobProgress, JobState, POLL_MS } from './job-state.tsx';
import { NewDownload } from './new-download.tsx';
import { NewUpload } from './new-upload.tsx';
import { pathOfJob, readId } from './paths.ts';

const PAGE_SIZE = 50;

const STATES: ReadonlyMap<string, readonly Schemas['BulkJobStatus'][]> = new Map([
  ['under way', ['CREATED', 'RUNNING']],
  ['completed', ['COMPLETED']],
  ['failed', ['FAILED']],
  ['cancelled', ['CANCELLED']],
]);

const columnsOf = (instances: readonly Instance[] = []): readonly Column<Job>[] => {
  const known = new Map(instances.map((instance) => [instance.id, instance]));
  return [
    {
      title: 'Job',
      cell: ({ id, jobDirection, objectName }) => (
        <>
          <span class="whole">{`#${id} ${jobDirection.toLowerCase()}`}</span>
          <div class="small soft break">{objectName}</div>
        </>
      ),
    },
    {
      title: 'Instance',
      cell: ({ instanceId }) => {
        const instance = known.get(instanceId);
        return (
          <>
            <a class="break" href={`/console/instances/${instanceId}`}>
              {instance?.name ?? `#${instanceId}`}
            </a>
            <div class="small soft break">{instance?.element.key}</div>
          </>
        );
      },
    },
    { title: 'State', cell: (job) => <JobState job={job} /> },
    { title: 'Rows', isNumber: true, cell: (job) => <JobProgress job={job} /> },
    {
      title: 'Provider calls',
      isNumber: true,
      isMinor: true,
      cell: ({ progress }) => (progress === undefined ? '–' : sayNumber(progress.providerCalls)),
    },
    { title: 'Size', isNumber: true, isMinor: true, cell: ({ fileSize }) => sayBytes(fileSize) },
    { title: 'Requested', isMinor: true, cell: ({ createdDate }) => <Time at={createdDate} /> },
  ];
};

/** Lists the jobs of all instances, newest first. The list is requested repeatedly while a job is running. */
export function JobList() {
  const address = useQuery();
  const instances = useInstances();
  const [isBusy, setBusy] = useState(false);
  const [opened, setOpened] = useState<'download' | 'upload'>();
  const instanceId = readId(address.query.instance);
  const where = whereOf(instanceId, address.query.state);
  const jobs = usePages(
    (nextPage, signal) => {
      const query = { pageSize: PAGE_SIZE, ...(where && { where }), ...(nextPage && { nextPage }) };
      return askPage(api.GET('/bulk-jobs', { signal, params: { query } }));
    },
    [where],
    { everyMs: isBusy ? POLL_MS : undefined },
  );
  const rows = jobs.value?.rows;
  useEffect(() => setBusy(rows?.some(isUnderWay) ?? false), [rows]);
  const newJob = { instances, instanceId: instanceId ?? onlyOf(instances), onClose: () => setOpened(undefined) };
  return (
    <div class="stack">
      <header class="row apart">
        <h1>Bulk</h1>
        {instances.value?.length !== 0 && (
          <div class="row">
            <button type="button" class="main" onClick={() => setOpened('download')}>
              Download records
            </button>
            <button type="button" onClick={() => setOpened('upload')}>
              Upload records
            </button>
          </div>
        )}
      </header>
      <Filters {...address} instances={instances} />
      <Show loaded={jobs}>
        {(page) =>
          page.rows.length === 0 ? (
            <NoJobs isNarrowed={where !== ''} hasInstances={instances.value?.length !== 0} />
          ) : (
            <Table
              label="Bulk jobs"
              columns={columnsOf(instances.value)}
              rows={page.rows}
              keyOf={({ id }) => id}
              linkOf={(job) => pathOfJob(job.id, job.instanceId)}
            />
          )
        }
      </Show>
      <Pager {...jobs} />
      {opened === 'download' && <NewDownload {...newJob} />}
      {opened === 'upload' && <NewUpload {...newJob} />}
    </div>
  );
}

function Filters({ query, change, instances }: AddressQuery & { readonly instances: Loaded<readonly Instance[]> }) {
  return (
    <div class="filters">
      <InstanceChoice
        instances={instances}
        value={query.instance}
        onChange={(instance) => change({ instance })}
        none="All instances"
      />
      <label>
        State
        <select value={query.state ?? ''} onChange={({ currentTarget }) => change({ state: currentTarget.value })}>
          <option value="">any</option>
          {[...STATES.keys()].map((state) => (
            <option key={state} value={state}>
              {state}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function NoJobs({ isNarrowed, hasInstances }: { readonly isNarrowed: boolean; readonly hasInstances: boolean }) {
  if (isNarrowed) return <Empty title="No bulk job matches. Change the filters." />;
  return (
    <Empty title="There are no bulk jobs yet.">
      <p>A download writes all records of a query to a file. An upload sends the rows of a file to the provider.</p>
      {!hasInstances && <a href="/console/instances/new">Connect an account</a>}
    </Empty>
  );
}

function whereOf(instanceId: number | undefined, state: string | undefined): string {
  const statuses = STATES.get(state ?? '');
  const parts = [
    instanceId !== undefined && `instanceId = ${instanceId}`,
    statuses !== undefined && `status IN (${statuses.map((status) => `'${status}'`).join(', ')})`,
  ];
  return parts.filter(Boolean).join(' AND ');
}

/** Returns the id of the only instance, which the user need not choose. */
function onlyOf({ value: [first, ...more] = [] }: Loaded<readonly Instance[]>): number | undefined {
  return more.length === 0 ? first?.id : undefined;
}
