import { useEffect, useState } from 'preact/hooks';
import { api, askPage } from '../api.ts';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { sayDuration, Time } from '../parts/time.tsx';
import type { Execution } from './calls.ts';
import { ExecutionState, isUnderWay, POLL_MS } from './execution-state.tsx';
import { pathOfExecution } from './paths.ts';

const PAGE_SIZE = 50;
/** Interval between two requests for a list in which no execution is in progress. */
const IDLE_MS = 5_000;

/** The filters by status. The service knows a queued execution as a pending one. */
const FILTERS: Readonly<Record<string, string>> = {
  pending: 'In progress',
  success: 'Success',
  failed: 'Failed',
  retry: 'Retry planned',
  cancelled: 'Cancelled',
};

const COLUMNS: readonly Column<Execution>[] = [
  { title: 'Execution', cell: ({ id }) => `#${id}` },
  { title: 'Status', cell: ({ status }) => <ExecutionState status={status} /> },
  { title: 'Started', cell: ({ createdDate }) => <Time at={createdDate} /> },
  {
    title: 'Took',
    isNumber: true,
    cell: ({ status, createdDate, updatedDate }) =>
      isUnderWay(status) ? '' : sayDuration(Date.parse(updatedDate) - Date.parse(createdDate)),
  },
  { title: 'Version', isNumber: true, isMinor: true, cell: ({ formulaVersion }) => formulaVersion ?? '' },
];

/** Lists the executions of a formula instance, newest first. New ones appear as they start. */
export function Executions({ instanceId }: { readonly instanceId: number }) {
  const { query, change } = useQuery();
  const status = query.status !== undefined && Object.hasOwn(FILTERS, query.status) ? query.status : undefined;
  const [isBusy, setBusy] = useState(false);
  const executions = usePages<Execution>(
    (nextPage, signal) => {
      const where = status === undefined ? {} : { where: `status = '${status}'` };
      const page = { pageSize: PAGE_SIZE, ...where, ...(nextPage !== undefined && { nextPage }) };
      const params = { path: { instanceId }, query: page };
      return askPage<Execution>(api.GET('/formulas/instances/{instanceId}/executions', { signal, params }));
    },
    [instanceId, status],
    { everyMs: isBusy ? POLL_MS : IDLE_MS },
  );
  useEffect(() => setBusy(executions.value?.rows.some((row) => isUnderWay(row.status)) === true), [executions.value]);
  return (
    <section class="stack tight" aria-labelledby="executions">
      <div class="row apart">
        <h2 id="executions">Executions</h2>
        <label class="inline">
          Status
          <select value={status ?? ''} onChange={({ currentTarget }) => change({ status: currentTarget.value })}>
            <option value="">All</option>
            {Object.entries(FILTERS).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Show loaded={executions}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title={status === undefined ? 'There are no executions yet.' : 'No execution has this status.'} />
          ) : (
            <>
              <Table
                label="Executions of the instance"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ id }) => id}
                linkOf={({ id }) => pathOfExecution(id)}
              />
              <Pager {...executions} />
            </>
          )
        }
      </Show>
    </section>
  );
}
