import type { DeliveryAttempt } from '../api.ts';
import { Badge } from '../parts/badge.tsx';
import { sayNumber } from '../parts/number.ts';
import { type Column, Table } from '../parts/table.tsx';
import { sayDuration, Time } from '../parts/time.tsx';
import type { PlannedRetry } from './retry-plan.ts';

/** An attempt that was made or is planned. */
interface Row {
  readonly key: string;
  readonly at: string;
  readonly made?: DeliveryAttempt;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'Attempt', cell: ({ key }) => key },
  { title: 'When', cell: ({ at }) => <Time at={at} /> },
  { title: 'Outcome', cell: ({ made }) => <Outcome made={made} /> },
  { title: 'Took', isNumber: true, cell: ({ made }) => (made === undefined ? '' : sayDuration(made.durationMs)) },
  { title: 'Response', cell: ({ made }) => <ResponseCell made={made} /> },
];

interface AttemptTableProps {
  readonly attempts: readonly DeliveryAttempt[];
  readonly planned: readonly PlannedRetry[];
}

/** Shows the outcome of each attempt, and the planned attempts. */
export function AttemptTable({ attempts, planned }: AttemptTableProps) {
  const rows: readonly Row[] = [
    ...attempts.map((made): Row => ({ key: String(made.attempt), at: made.date, made })),
    ...planned.map(({ retry, atMs }): Row => ({ key: `retry ${retry}`, at: new Date(atMs).toISOString() })),
  ];
  return <Table label="Attempts" columns={COLUMNS} rows={rows} keyOf={({ key, at }) => `${key} ${at}`} />;
}

function Outcome({ made }: { readonly made: DeliveryAttempt | undefined }) {
  if (made === undefined) return <Badge tone="busy">planned</Badge>;
  const { delivered, statusCode, error } = made;
  const status = statusCode === undefined ? '' : ` ${statusCode}`;
  return (
    <>
      <Badge tone={delivered ? 'good' : 'bad'}>
        {delivered ? 'delivered' : 'failed'}
        {status}
      </Badge>
      {error !== undefined && <div class="small soft break">{error}</div>}
    </>
  );
}

function ResponseCell({ made }: { readonly made: DeliveryAttempt | undefined }) {
  if (made === undefined) return null;
  if (made.answer === undefined || made.answer === '') return <span class="soft">empty</span>;
  return (
    <details>
      <summary>{sayNumber(made.answer.length)} characters</summary>
      <pre class="wrap">{made.answer}</pre>
    </details>
  );
}
