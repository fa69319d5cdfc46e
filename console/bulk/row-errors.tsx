import { useState } from 'preact/hooks';
import { api, askPage, onInstance, type Schemas } from '../api.ts';
import { useAction } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { sayNumber } from '../parts/number.ts';
import { Pager, usePages } from '../parts/pages.tsx';
import { ErrorNote, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { saveFile } from './files.ts';
import type { Job } from './job-state.tsx';

type RowError = Schemas['BulkError'];

const PAGE_SIZE = 50;
const TYPES = { csv: 'text/csv', jsonl: 'application/x-ndjson' } as const;

const COLUMNS: readonly Column<RowError>[] = [
  { title: 'Row', isNumber: true, cell: ({ row }) => (row === undefined ? 'all' : sayNumber(row)) },
  {
    title: 'Outcome',
    cell: ({ outcome, doubtful }) => (
      <span class="row">
        {outcome ?? 'failed'}
        {doubtful && (
          <Badge
            tone="warn"
            title="The row was sent more than once as a new record, so there may be two records of it."
          >
            doubtful
          </Badge>
        )}
      </span>
    ),
  },
  { title: 'Code', isMinor: true, cell: ({ code }) => code !== undefined && <code>{code}</code> },
  { title: 'Error', cell: ({ message }) => message },
];

/** Lists the rows that failed or whose outcome is unknown, and offers the failed ones as a file to correct and upload again. */
export function RowErrors({ job, instanceId }: { readonly job: Job; readonly instanceId: number }) {
  const { id, fileFormat, recordsFailedCount, objectName } = job;
  const [count, setCount] = useState<number>();
  const errors = usePages(
    async (nextPage, signal) => {
      const query = { pageSize: PAGE_SIZE, ...(nextPage && { nextPage }) };
      const call = api.GET('/bulk/{id}/errors', {
        signal,
        headers: { ...onInstance(instanceId), Accept: 'application/json' },
        params: { path: { id }, query },
      });
      return askPage<RowError>(call);
    },
    [id, instanceId, recordsFailedCount],
  );
  const { run, isRunning, error } = useAction(async () => {
    const call = api.GET('/bulk/{id}/errors', {
      headers: { ...onInstance(instanceId), Accept: TYPES[fileFormat] },
      params: { path: { id } },
      parseAs: 'stream',
    });
    await saveFile(call, `${objectName}-${id}-failed.${fileFormat}`, setCount);
  });
  return (
    <Show loaded={errors}>
      {({ rows }) =>
        rows.length > 0 && (
          <div class="stack tight">
            <header class="row apart">
              <h2>Errors</h2>
              {recordsFailedCount > 0 && (
                <button type="button" disabled={isRunning} onClick={() => run()}>
                  {isRunning && count !== undefined ? `${sayNumber(count)} bytes` : 'Save the failed rows as a file'}
                </button>
              )}
            </header>
            <ErrorNote error={error} />
            <Table label="Errors" columns={COLUMNS} rows={rows} keyOf={({ row, message }) => row ?? message} />
            <Pager {...errors} />
          </div>
        )
      }
    </Show>
  );
}
