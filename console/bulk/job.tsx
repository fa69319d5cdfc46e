import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, onInstance } from '../api.ts';
import { useAction, useLoad } from '../load.ts';
import { CodeWords } from '../parts/code-words.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Fact } from '../parts/fact.tsx';
import { sayBytes, sayNumber } from '../parts/number.ts';
import { ErrorNote, Show } from '../parts/show.tsx';
import { sayDuration, Time } from '../parts/time.tsx';
import { isUnderWay, type Job, JobProgress, JobState, POLL_MS } from './job-state.tsx';
import { pathOfJobs } from './paths.ts';
import { RowErrors } from './row-errors.tsx';
import { SaveFile } from './save.tsx';

interface JobKey {
  readonly id: number;
  readonly instanceId: number;
}

const WAYS = {
  native: 'bulk jobs of the provider',
  paging: 'lists of the provider, page by page',
  rows: 'calls for single records',
} as const;

/** Shows a job: its progress, its outcome and its end. */
export function JobPage({ id, instanceId }: JobKey) {
  const [isBusy, setBusy] = useState(true);
  const loaded = useLoad(
    (signal) =>
      ask(api.GET('/bulk/{id}/status', { signal, headers: onInstance(instanceId), params: { path: { id } } })),
    [id, instanceId],
    { everyMs: isBusy ? POLL_MS : undefined },
  );
  const { value, error } = loaded;
  useEffect(() => setBusy(error === undefined && (value === undefined || isUnderWay(value))), [value, error]);
  return (
    <div class="stack">
      <a href={pathOfJobs(instanceId)}>← Bulk</a>
      <Show loaded={loaded}>
        {(job) => (
          <>
            <Head job={job} instanceId={instanceId} onChange={loaded.reload} />
            <Failure job={job} />
            {job.status === 'COMPLETED' && <SaveFile job={job} instanceId={instanceId} />}
            <Facts job={job} instanceId={instanceId} />
            {job.jobDirection === 'UPLOAD' && <RowErrors job={job} instanceId={instanceId} />}
          </>
        )}
      </Show>
    </div>
  );
}

interface HeadProps {
  readonly job: Job;
  readonly instanceId: number;
  readonly onChange: () => void;
}

function Head({ job, instanceId, onChange }: HeadProps) {
  const { id, jobDirection, objectName } = job;
  const { route } = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const asked = { headers: onInstance(instanceId), params: { path: { id } } };
  const { run, isRunning, error } = useAction(async () => {
    await ask(api.PUT('/bulk/{id}/cancel', asked));
    onChange();
  });
  const remove = async () => {
    await ask(api.DELETE('/bulk/{id}', asked));
    route(pathOfJobs(instanceId));
  };
  return (
    <>
      <header class="row apart">
        <div class="row">
          <h1 class="break">
            {jobDirection === 'UPLOAD' ? 'Upload' : 'Download'} #{id} of {objectName}
          </h1>
          <JobState job={job} />
        </div>
        <div class="row">
          {isUnderWay(job) && (
            <button type="button" disabled={isRunning} onClick={() => run()}>
              Cancel the job
            </button>
          )}
          <button type="button" onClick={() => setDeleting(true)}>
            Delete
          </button>
        </div>
      </header>
      <ErrorNote error={error} />
      {isDeleting && (
        <Confirm
          title={`Delete job #${id}?`}
          action="Delete the job"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>
            The service deletes the job and its file. {isUnderWay(job) && 'The job is running, and is cancelled first.'}
          </p>
          <p>Records that an upload has written stay.</p>
        </Confirm>
      )}
    </>
  );
}

function Failure({ job: { code, message } }: { readonly job: Job }) {
  if (code === undefined && message === undefined) return null;
  return (
    <div class="note bad" role="alert">
      <p>{message}</p>
      {code !== undefined && (
        <p class="small">
          <code>{code}</code> <CodeWords code={code} />
        </p>
      )}
    </div>
  );
}

function Facts({ job, instanceId }: Omit<HeadProps, 'onChange'>) {
  const { progress, bulkStartTime, bulkFinishTime, recordsFailedCount } = job;
  const tookMs = bulkStartTime && bulkFinishTime ? Date.parse(bulkFinishTime) - Date.parse(bulkStartTime) : undefined;
  return (
    <dl class="facts">
      <Fact name="Rows">
        <JobProgress job={job} />
      </Fact>
      {job.jobDirection === 'UPLOAD' && <Fact name="Failed rows">{sayNumber(recordsFailedCount)}</Fact>}
      {progress !== undefined && <Fact name="Provider calls">{sayNumber(progress.providerCalls)}</Fact>}
      {progress?.way !== undefined && <Fact name="By">{WAYS[progress.way]}</Fact>}
      {progress?.providerJobId !== undefined && (
        <Fact name="Provider's job">
          <code>{progress.providerJobId}</code>
        </Fact>
      )}
      <Fact name="File">
        {job.fileName} <span class="soft">· {sayBytes(job.fileSize)}</span>
      </Fact>
      <Fact name="Instance">
        <a href={`/console/instances/${instanceId}`}>#{instanceId}</a>
      </Fact>
      <Fact name="Asked for">
        <Time at={job.createdDate} />
      </Fact>
      {bulkFinishTime !== undefined && (
        <Fact name="Ended">
          <Time at={bulkFinishTime} />
          {tookMs !== undefined && <span class="soft"> · it took {sayDuration(tookMs)}</span>}
        </Fact>
      )}
    </dl>
  );
}
