import { api, askPage, type Instance } from '../api.ts';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, type ColumnSort, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useMay, useNeeds } from '../who.ts';
import { type AddressQuery, useQuery, useTyped } from './address.ts';
import { LastError } from './last-error.tsx';
import { Mark } from './mark.tsx';
import { State } from './state.tsx';

const PAGE_SIZE = 50;

/** The filters by state, in the query language. */
const STATES: Readonly<Record<string, { readonly title: string; readonly where: string }>> = {
  valid: { title: 'Valid', where: 'valid = TRUE AND disabled = FALSE' },
  invalid: { title: 'Not valid', where: 'valid = FALSE' },
  disabled: { title: 'Disabled', where: 'disabled = TRUE' },
};

interface Columns {
  readonly search: (tag: string) => void;
  readonly sortBy: (field: string) => ColumnSort;
}

const columnsOf = ({ search, sortBy }: Columns): readonly Column<Instance>[] => [
  { title: 'Name', sort: sortBy('name'), cell: ({ name }) => <span class="strong break">{name}</span> },
  {
    title: 'Element',
    sort: sortBy('element.key'),
    cell: ({ element }) => (
      <span class="row beside">
        <Mark image={element.image} /> <span>{element.name}</span>
      </span>
    ),
  },
  {
    title: 'State',
    sort: sortBy('state'),
    cell: (instance) => (
      <div class="stack tight">
        <State instance={instance} />
        {instance.invalidReason !== undefined && <span class="small soft">{instance.invalidReason}</span>}
      </div>
    ),
  },
  {
    title: 'Last call',
    sort: sortBy('lastCallDate'),
    isMinor: true,
    cell: ({ lastCallDate }) => <Time at={lastCallDate} />,
  },
  {
    title: 'Last error',
    sort: sortBy('lastError.date'),
    isMinor: true,
    cell: ({ lastError }) => <LastError lastError={lastError} />,
  },
  {
    title: 'Owner',
    sort: sortBy('user.emailAddress'),
    isMinor: true,
    cell: ({ user }) => <span class="break">{user.emailAddress}</span>,
  },
  {
    title: 'Tags',
    isMinor: true,
    cell: ({ tags }) => (
      <span class="row">
        {tags.map((tag) => (
          <button
            key={tag}
            type="button"
            class="chip"
            title={`Only instances with the tag ${tag}`}
            onClick={() => search(tag)}
          >
            {tag}
          </button>
        ))}
      </span>
    ),
  },
  {
    title: 'Created',
    sort: sortBy('createdDate'),
    isMinor: true,
    cell: ({ createdDate }) => <Time at={createdDate} />,
  },
];

/**
 * Returns the sort order of a column. The first click on its title sorts, the second one reverses the order, and the third one removes it.
 * Times are sorted newest first.
 */
function useSort(): (field: string) => ColumnSort {
  const [{ orderBy = '' }, change] = useQuery();
  return (field) => {
    const first = /date$/i.test(field) ? 'desc' : 'asc';
    const ways = [`${field} ${first}`, `${field} ${first === 'asc' ? 'desc' : 'asc'}`, ''];
    return {
      direction: orderBy === `${field} asc` ? 'ascending' : orderBy === `${field} desc` ? 'descending' : undefined,
      toggle: () => change({ orderBy: ways[(ways.indexOf(orderBy) + 1) % ways.length] }),
    };
  };
}

/** Lists the instances: all of them, those that a search finds, and those with a tag or in a state. */
export function InstanceList() {
  const [query, change] = useQuery();
  const { q = '', state = '', tag = '', orderBy = '' } = query;
  const sortBy = useSort();
  const [words, setWords] = useTyped(q, (text) => change({ q: text }));
  const list = usePages(
    (nextPage, signal) => askPage(api.GET('/instances', { signal, params: { query: queryOf(query, nextPage) } })),
    [q, state, tag, orderBy],
  );
  const isFiltered = q !== '' || state !== '' || tag !== '';
  return (
    <div class="stack">
      <header class="row apart">
        <h1>Instances</h1>
        <ConnectLink>Connect an account</ConnectLink>
      </header>
      <div class="row">
        <input
          class="grow"
          type="search"
          aria-label="Search instances"
          placeholder="Search by name or element  ( / )"
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
        <TypedTag tag={tag} onChange={(next) => change({ tag: next })} />
        <select
          class="narrow"
          aria-label="State"
          value={state}
          onChange={({ currentTarget }) => change({ state: currentTarget.value })}
        >
          <option value="">Any state</option>
          {Object.entries(STATES).map(([key, { title }]) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      </div>
      <Show loaded={list}>
        {({ rows }) =>
          rows.length > 0 ? (
            <Table
              label="Instances"
              columns={columnsOf({ search: (next) => change({ tag: next }), sortBy })}
              rows={rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => `/console/instances/${id}`}
            />
          ) : isFiltered ? (
            <Empty title="No instance matches the filters.">
              <a href="/console/instances">Show all</a>
            </Empty>
          ) : (
            <Empty title="No account is connected yet.">
              <p>An instance is the connection to one account at a provider. Simulators need no account.</p>
              <ConnectLink>Connect the first account</ConnectLink>
            </Empty>
          )
        }
      </Show>
      <Pager {...list} />
    </div>
  );
}

function TypedTag({ tag, onChange }: { readonly tag: string; readonly onChange: (tag: string) => void }) {
  const [text, setText] = useTyped(tag, onChange);
  return (
    <input
      class="narrow"
      aria-label="Tag"
      placeholder="Tag"
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  );
}

function ConnectLink({ children }: { readonly children: string }) {
  const needs = useNeeds();
  const may = useMay();
  if (!may('createElementInstances'))
    return (
      <button type="button" {...needs('createElementInstances')}>
        {children}
      </button>
    );
  return (
    <a class="button main" href="/console/instances/new">
      {children}
    </a>
  );
}

function queryOf({ q = '', state = '', tag = '', orderBy = '' }: AddressQuery, nextPage: string | undefined) {
  const where = STATES[state]?.where;
  return {
    pageSize: PAGE_SIZE,
    ...(q.trim() !== '' && { searchText: q.trim() }),
    ...(tag.trim() !== '' && { 'tags[]': [tag.trim()] }),
    ...(where !== undefined && { where }),
    ...(orderBy !== '' && { orderBy }),
    ...(nextPage !== undefined && { nextPage }),
  };
}
