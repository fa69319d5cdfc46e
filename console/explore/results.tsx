import { useState } from 'preact/hooks';
import type { Row } from '../../src/where/row-values.ts';
import { Badge } from '../parts/badge.tsx';
import { type PagedList, Pager } from '../parts/pages.tsx';
import { Empty, ErrorNote, Skeleton } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { PAGE_SIZES, type WrittenQuery } from './address.ts';
import { Cell, isNumeric } from './cell.tsx';
import { columnsOf, MOST_COLUMNS, type RecordColumn } from './columns.ts';
import { printCsv, saveFile } from './csv.ts';
import { ColumnsDialog, RecordDialog, SnippetsDialog } from './dialogs.tsx';
import type { ObjectFields } from './metadata.ts';
import { directionOf, nextOrder } from './order.ts';
import { Pushdown } from './pushdown.tsx';
import type { RecordsPage, ResponseFacts } from './records.ts';
import { useKept } from './settled.ts';
import { snippetsOf } from './snippets.ts';

interface ResultsProps {
  readonly objectName: string;
  readonly metadata: ObjectFields;
  readonly query: WrittenQuery;
  readonly list: PagedList<Row, RecordsPage>;
  readonly onQuery: (query: WrittenQuery) => void;
}

type Opened = 'columns' | 'snippets' | { readonly record: Row };

/** Shows the records that the query returns. */
export function Results({ objectName, metadata, query, list, onQuery }: ResultsProps) {
  const [opened, setOpened] = useState<Opened>();
  const shown = useKept(list);
  const all = columnsOf(shown?.rows ?? [], query.fields, metadata);
  const columns = all.slice(0, MOST_COLUMNS);
  const close = () => setOpened(undefined);
  return (
    <section class="stack tight" aria-label="Results" aria-busy={list.isLoading}>
      <div class="row apart">
        <div class="row" aria-live="polite">
          {list.error === undefined &&
            (shown === undefined ? <span class="soft">Loading…</span> : <Facts page={shown} />)}
        </div>
        <div class="row">
          <PageSize query={query} onQuery={onQuery} />
          <button type="button" onClick={() => setOpened('columns')}>
            Columns
          </button>
          <button
            type="button"
            disabled={shown === undefined || shown.rows.length === 0}
            title="The rows and columns that are shown"
            onClick={() => saveFile(`${objectName.replaceAll('/', '-')}.csv`, printCsv(columns, shown?.rows ?? []))}
          >
            CSV
          </button>
          <button type="button" onClick={() => setOpened('snippets')}>
            Copy as…
          </button>
        </div>
      </div>
      <ErrorNote error={list.error} retry={list.reload} />
      {shown === undefined && list.isLoading && <Skeleton lines={10} />}
      {shown !== undefined && list.error === undefined && (
        <Rows
          page={shown}
          columns={columns}
          query={query}
          onQuery={onQuery}
          onOpen={(record) => setOpened({ record })}
        />
      )}
      {all.length > columns.length && (
        <p class="soft small">
          The first {columns.length} of {all.length} columns are shown. Choose others under Columns.
        </p>
      )}
      <Pager {...list} />
      {opened === 'columns' && (
        <ColumnsDialog
          metadata={metadata}
          fields={query.fields}
          onChoose={(fields) => onQuery({ ...query, fields })}
          onClose={close}
        />
      )}
      {opened === 'snippets' && (
        <SnippetsDialog snippets={snippetsOf(location.origin, objectName, query)} onClose={close} />
      )}
      {typeof opened === 'object' && <RecordDialog record={opened.record} columns={all} onClose={close} />}
    </section>
  );
}

function PageSize({ query, onQuery }: Pick<ResultsProps, 'query' | 'onQuery'>) {
  return (
    <select
      class="narrow"
      aria-label="Rows per page"
      value={query.pageSize}
      onChange={({ currentTarget }) => onQuery({ ...query, pageSize: Number(currentTarget.value) })}
    >
      {PAGE_SIZES.map((size) => (
        <option key={size} value={size}>
          {size} rows
        </option>
      ))}
    </select>
  );
}

const PARTIAL: Readonly<Record<string, string>> = {
  'scan-budget':
    'The page ended early, because it reached the limit of provider calls. There may be more rows on the next page.',
  bytes: 'The page ended early, because its rows are large. There are more rows on the next page.',
  'result-window': 'The provider returns no more rows for this query. Narrow the filter to see others.',
};

function Facts({ page: { rows, facts, nextPage } }: { readonly page: RecordsPage }) {
  const { pushdown, providerCalls, partial, total } = facts;
  return (
    <>
      <span>{sayCount(rows.length, total, nextPage !== undefined)}</span>
      {pushdown !== undefined && <Pushdown pushdown={pushdown} />}
      {providerCalls !== undefined && (
        <span class="soft">
          {providerCalls} provider {providerCalls === 1 ? 'call' : 'calls'}
        </span>
      )}
      {partial !== undefined && (
        <Badge tone="warn" title={PARTIAL[partial] ?? partial}>
          partial: {partial}
        </Badge>
      )}
    </>
  );
}

function sayCount(count: number, total: ResponseFacts['total'], hasMore: boolean): string {
  const rows = `${count} ${count === 1 ? 'record' : 'records'}`;
  if (total !== undefined) return `${rows} of ${total}`;
  return hasMore ? `${count}+ records` : rows;
}

interface Numbered {
  readonly number: number;
  readonly record: Row;
}

interface RowsProps {
  readonly page: RecordsPage;
  readonly columns: readonly RecordColumn[];
  readonly query: WrittenQuery;
  readonly onQuery: (query: WrittenQuery) => void;
  readonly onOpen: (record: Row) => void;
}

function Rows({ page: { rows, nextPage }, columns, query, onQuery, onOpen }: RowsProps) {
  if (rows.length === 0)
    return nextPage === undefined ? (
      <Empty title="No record matches.">
        {query.where !== '' && <p>Change the filter, or clear it to see all records.</p>}
      </Empty>
    ) : (
      <Empty title="No record of this page matches.">
        <p>The next page may have matching records.</p>
      </Empty>
    );
  const opener: Column<Numbered> = {
    title: '#',
    isNumber: true,
    cell: ({ number, record }) => (
      <button type="button" class="plain" aria-label={`Show record ${number}`} onClick={() => onOpen(record)}>
        {number}
      </button>
    ),
  };
  const cells = columns.map(
    ({ name, field, read }): Column<Numbered> => ({
      title: name,
      isNumber: isNumeric(read(rows[0] ?? {})) || field?.type === 'number' || field?.type === 'integer',
      cell: ({ record }) => <Cell value={read(record)} />,
      ...(field?.sortable === true && {
        sort: {
          direction: directionOf(query.orderBy, name),
          toggle: () => onQuery({ ...query, orderBy: nextOrder(query.orderBy, name) }),
        },
      }),
    }),
  );
  return (
    <Table
      label="Records"
      columns={[opener, ...cells]}
      rows={rows.map((record, index) => ({ number: index + 1, record }))}
      keyOf={({ number }) => number}
    />
  );
}
