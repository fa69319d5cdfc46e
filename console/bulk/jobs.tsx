import { useEffect, useState } from 'preact/hooks';
import { api, askPage, onInstance } from '../api.ts';
import { sayBytes, sayNumber } from '../parts/number.ts';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { isUnderWay, type Job, JobProgress, JobState, POLL_MS } from './job-state.tsx';
import { NewDownload } from './new-download.tsx';
import { NewUpload } from './new-upload.tsx';
import { pathOfJob } from './paths.ts';

const PAGE_SIZE = 50;

const COLUMNS: readonly Column<Job>[] = [
  { title: 'Job', cell: ({ id, jobDirection }) => <span class="whole">{`#${id} ${jobDirection.toLowerCase()}`}</span> },
  { title: 'Object', cell: ({ objectName }) => <span class="whole">{objectName}</span> },
  { title: 'State', cell: (job) => <JobState job={job} /> },
  { title: 'Rows', isNumber: true, cell: (job) => <JobProgress job={job} /> },
  {
    title: 'Provider calls',
    isNumber: true,
    isMinor: true,
    cell: ({ progress }) => (progress === undefined ? '–' : sayNumber(progress.providerCalls)),
  },
  { title: 'Size', isNumber: true, isMinor: true, cell: ({ fileSize }) => sayBytes(fileSize) },
  { title: 'Asked for', isMinor: true, cell: ({ createdDate }) => <Time at={createdDate} /> },
];

/** The jobs of an instance, the newest first; looked at again and again while one is under way. */
export function JobList({ instanceId }: { readonly instanceId: number }) {
  const [isBusy, setBusy] = useState(false);
  const [opened, setOpened] = useState<'download' | 'upload'>();
  const jobs = usePages(
    (nextPage, signal) =>
      askPage(
        api.GET('/bulk/jobs', {
          signal,
          headers: onInstance(instanceId),
          params: { query: { pageSize: PAGE_SIZE, ...(nextPage && { nextPage }) } },
        }),
      ),
    [instanceId],
    { everyMs: isBusy ? POLL_MS : undefined },
  );
  const rows = jobs.value?.rows;
  useEffect(() => setBusy(rows?.some(isUnderWay) ?? false), [rows]);
  const buttons = (
    <div class="row">
      <button type="button" class="main" onClick={() => setOpened('download')}>
        Download records
      </button>
      <button type="button" onClick={() => setOpened('upload')}>
        Upload records
      </button>
    </div>
  );
  return (
    <>
      {rows?.length !== 0 && buttons}
      <Show loaded={jobs}>
        {(page) =>
          page.rows.length === 0 ? (
            <Empty title="There are no bulk jobs of this instance.">
              <p>A download reads all records of a query into a file. An upload writes the rows of a file.</p>
              {buttons}
            </Empty>
          ) : (
            <Table
              label="Bulk jobs"
              columns={COLUMNS}
              rows={page.rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => pathOfJob(id, instanceId)}
            />
          )
        }
      </Show>
      <Pager {...jobs} />
      {opened === 'download' && <NewDownload instanceId={instanceId} onClose={() => setOpened(undefined)} />}
      {opened === 'upload' && <NewUpload instanceId={instanceId} onClose={() => setOpened(undefined)} />}
    </>
  );
}
