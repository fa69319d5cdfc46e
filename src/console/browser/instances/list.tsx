import { useState } from 'preact/hooks';
import { api, askPage, type Schemas } from '../api.ts';
import { Badge } from '../parts/badge.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

type Instance = Schemas['Instance'];

const PAGE_SIZE = 50;

const COLUMNS: readonly Column<Instance>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Element', cell: ({ element }) => element.key },
  { title: 'State', cell: (instance) => <State instance={instance} /> },
  { title: 'Tags', isMinor: true, cell: ({ tags }) => tags.join(', ') },
  { title: 'Created', isMinor: true, cell: ({ createdDate }) => <Time at={createdDate} /> },
];

export function InstanceList() {
  const [words, setWords] = useState('');
  const list = usePages(
    (nextPage, signal) =>
      askPage(
        api.GET('/instances', { signal, params: { query: { pageSize: PAGE_SIZE, ...(nextPage && { nextPage }) } } }),
      ),
    [words],
  );
  return (
    <div class="stack">
      <header class="row apart">
        <h1>Instances</h1>
        <a class="button main" href="/console/instances/new">
          Connect an account
        </a>
      </header>
      <input
        type="search"
        aria-label="Search instances"
        placeholder="Search by name, element or tag  ( / )"
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      <Show loaded={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="No account is connected yet.">
              <a href="/console/instances/new">Connect the first one</a>
            </Empty>
          ) : (
            <Table
              label="Instances"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => `/console/instances/${id}`}
            />
          )
        }
      </Show>
      <Pager {...list} />
    </div>
  );
}

function State({ instance }: { readonly instance: Instance }) {
  if (instance.disabled) return <Badge tone="quiet">disabled</Badge>;
  return instance.valid ? <Badge tone="good">valid</Badge> : <Badge tone="bad">not valid</Badge>;
}
