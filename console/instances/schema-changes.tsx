import { api, ask, askPage, type Instance, type Schemas } from '../api.ts';
import { useAction } from '../load.ts';
import { Badge, type Tone } from '../parts/badge.tsx';
import { Form } from '../parts/form.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, ErrorNote, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { type Needs, useNeeds } from '../who.ts';

type Watch = Schemas['SchemaWatch'];
type Change = Schemas['SchemaChange'];

const PAGE_SIZE = 100;
const REFRESH_MS = 3000;
const TONES: Readonly<Record<Watch['state'], Tone>> = {
  pending: 'busy',
  watched: 'good',
  unconfirmed: 'busy',
  missing: 'bad',
};

const watchColumns = (end: (objectName: string) => void, needs: Needs): readonly Column<Watch>[] => [
  {
    title: 'Object',
    cell: ({ objectName, lastError }) => (
      <div class="stack tight">
        <span class="strong">{objectName}</span>
        {lastError !== undefined && <span class="small fault">{lastError}</span>}
      </div>
    ),
  },
  { title: 'State', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
  { title: 'Used by', cell: (watch) => usersOf(watch).join(', ') },
  { title: 'Fields', isNumber: true, isMinor: true, cell: ({ fieldCount }) => fieldCount ?? '–' },
  { title: 'Checked', isMinor: true, cell: ({ checkedDate }) => <Time at={checkedDate} /> },
  { title: 'Next check', isMinor: true, cell: ({ nextCheckDate }) => <Time at={nextCheckDate} /> },
  {
    title: 'Do',
    cell: ({ objectName, requested }) =>
      requested && (
        <button
          type="button"
          class="plain"
          {...needs('createElementInstances')}
          aria-label={`End the watch of ${objectName}`}
          onClick={() => end(objectName)}
        >
          End the watch
        </button>
      ),
  },
];

const CHANGE_COLUMNS: readonly Column<Change>[] = [
  { title: 'Found', cell: ({ createdDate }) => <Time at={createdDate} /> },
  { title: 'Object', cell: ({ objectName }) => <span class="strong">{objectName}</span> },
  {
    title: 'Change',
    cell: (change) => (
      <ul class="plain">
        {linesOf(change).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    ),
  },
  {
    title: 'Breaks',
    cell: ({ breaks }) => {
      const broken = brokenBy(breaks);
      return broken.length === 0 ? '–' : <span class="fault">{broken.join(', ')}</span>;
    },
  },
];

/** Shows the objects of an instance whose fields are watched, and the changes that were found. */
export function SchemaChanges({ instance: { id } }: { readonly instance: Instance }) {
  const watches = usePages(
    (nextPage, signal) =>
      askPage<Watch>(
        api.GET('/instances/{id}/watches', {
          signal,
          params: { path: { id }, query: { pageSize: PAGE_SIZE, ...(nextPage !== undefined && { nextPage }) } },
        }),
      ),
    [id],
    { everyMs: REFRESH_MS },
  );
  const changes = usePages(
    (nextPage, signal) =>
      askPage<Change>(
        api.GET('/instances/{id}/schema-changes', {
          signal,
          params: { path: { id }, query: { pageSize: PAGE_SIZE, ...(nextPage !== undefined && { nextPage }) } },
        }),
      ),
    [id],
    { everyMs: REFRESH_MS },
  );
  const needs = useNeeds();
  const { run: end, error } = useAction(async (objectName: string) => {
    await ask(api.DELETE('/instances/{id}/watches/{objectName}', { params: { path: { id, objectName } } }));
    watches.reload();
  });
  const watch = async (form: FormData) => {
    const objectName = String(form.get('objectName')).trim();
    await ask(api.PUT('/instances/{id}/watches/{objectName}', { params: { path: { id, objectName } } }));
    watches.reload();
  };
  return (
    <>
      <section class="stack">
        <h2>Changes</h2>
        <Show loaded={changes}>
          {({ rows }) =>
            rows.length > 0 ? (
              <Table label="Changes" columns={CHANGE_COLUMNS} rows={rows} keyOf={(change) => change.id} />
            ) : (
              <Empty title="No watched object has changed." />
            )
          }
        </Show>
        <Pager {...changes} />
      </section>
      <section class="stack">
        <h2>Watched objects</h2>
        <ErrorNote error={error} />
        <Show loaded={watches}>
          {({ rows }) =>
            rows.length > 0 ? (
              <Table
                label="Watched objects"
                columns={watchColumns(end, needs)}
                rows={rows}
                keyOf={({ objectName }) => objectName}
              />
            ) : (
              <Empty title="Nothing is watched.">
                <p>The service watches what polls, mappings and formulas use, and what you add here.</p>
              </Empty>
            )
          }
        </Show>
        <Pager {...watches} />
        <Form action="Watch" onSubmit={watch} done="The object is watched.">
          <label>
            Object
            <input name="objectName" required maxLength={255} {...needs('createElementInstances')} />
          </label>
        </Form>
      </section>
    </>
  );
}

function usersOf({ requested, polls, mappings, formulas }: Watch): readonly string[] {
  return [
    ...(requested ? ['a request'] : []),
    ...polls.map((name) => `poll ${name}`),
    ...mappings.map((name) => `mapping ${name}`),
    ...formulas.map(({ formulaName }) => `formula ${formulaName}`),
  ];
}

function linesOf({ object, added, removed, changed, operations }: Change): readonly string[] {
  if (object === 'removed') return ['The object disappeared.'];
  const differences = changed.map(({ field, from, to }) => `${field}: ${sayProperties(from)} → ${sayProperties(to)}`);
  return [
    ...(object === 'added' ? ['The object is back.'] : []),
    ...(removed.length > 0 ? [`Removed: ${removed.join(', ')}`] : []),
    ...differences,
    ...(added.length > 0 && object === undefined ? [`Added: ${added.join(', ')}`] : []),
    ...(operations === undefined ? [] : [sayOperations(operations)]),
  ];
}

function sayProperties(properties: Schemas['FieldProperties']): string {
  const said = Object.entries(properties).map(([name, value]) => {
    if (value === true) return name;
    return value === false ? `not ${name}` : String(value);
  });
  return said.length === 0 ? 'nothing' : said.join(', ');
}

function sayOperations({ added, removed }: Schemas['OperationDifference']): string {
  return [
    ...(removed.length > 0 ? [`no longer: ${removed.join(', ')}`] : []),
    ...(added.length > 0 ? [`now possible: ${added.join(', ')}`] : []),
  ].join('; ');
}

function brokenBy({ mappings, polls, formulas }: Change['breaks']): readonly string[] {
  return [
    ...mappings.map(({ objectName }) => `mapping ${objectName}`),
    ...polls.map(({ resource }) => `poll ${resource}`),
    ...formulas.map(({ formulaName }) => `formula ${formulaName}`),
  ];
}
