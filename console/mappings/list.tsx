import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { sayNumber } from '../parts/number.ts';
import { useQuery } from '../parts/query.ts';
import { Search } from '../parts/search.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { type CommonResource, definitionCalls, listElements, listResources } from './calls.ts';
import { LevelChoice } from './level-choice.tsx';
import { useLevelNeeds } from './levels.ts';
import { CATALOGUE_PATH, pathOfDefinition } from './paths.ts';

/** Maximum number of names in a cell. The others are counted. */
const MOST_NAMES = 4;

function columnsFor(elements: ReadonlyMap<number, string>): readonly Column<CommonResource>[] {
  return [
    { title: 'Definition', cell: ({ name }) => <span class="strong break">{name}</span> },
    {
      title: 'Levels',
      isMinor: true,
      cell: ({ fields }) => (
        <span class="row">
          {[...new Set(fields.map(({ associatedLevel }) => associatedLevel))].map((level) => (
            <Badge key={level} tone="quiet">
              {level}
            </Badge>
          ))}
        </span>
      ),
    },
    {
      title: 'Fields',
      isNumber: true,
      cell: ({ fields }) => sayNumber(new Set(fields.map(({ path }) => path)).size),
    },
    {
      title: 'Mapped by',
      cell: ({ mappedElementIds, elementInstanceIds }) => {
        const names = mappedElementIds.map((id) => elements.get(id) ?? `element ${id}`).toSorted();
        const more = [
          ...(names.length > MOST_NAMES ? [`${names.length - MOST_NAMES} more`] : []),
          ...(elementInstanceIds.length > 0 ? [sayInstances(elementInstanceIds.length)] : []),
        ];
        const all = [...names.slice(0, MOST_NAMES), ...more];
        return all.length === 0 ? (
          <span class="soft">nothing yet</span>
        ) : (
          <span title={names.join(', ')}>{all.join(', ')}</span>
        );
      },
    },
  ];
}

function sayInstances(count: number): string {
  return count === 1 ? '1 instance of its own' : `${count} instances of their own`;
}

/** Lists the definitions of all levels. */
export function DefinitionList() {
  const { query, change } = useQuery();
  const resources = useLoad(listResources, []);
  const elements = useLoad(listElements, []);
  const [isNew, setNew] = useState(false);
  const names = new Map((elements.value ?? []).map(({ id, name }) => [id, name]));
  const words = (query.q ?? '').trim().toLowerCase();
  const needs = useLevelNeeds();
  return (
    <div class="stack">
      <header class="row apart">
        <h1>Mappings</h1>
        <span class="row">
          <a class="button" href={CATALOGUE_PATH}>
            Catalogue
          </a>
          <button type="button" class="main" onClick={() => setNew(true)} {...needs('account', 'create')}>
            New definition…
          </button>
        </span>
      </header>
      <p class="soft">
        A definition names an object and its fields, as your product uses them. A transformation maps them to the fields
        of a provider, for all instances of an element or for one.
      </p>
      <Show loaded={resources}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="There are no definitions yet.">
              <p>
                Take one over from the <a href={CATALOGUE_PATH}>catalogue</a>, which maps common objects for most
                elements, or make your own.
              </p>
            </Empty>
          ) : (
            <>
              <Search label="Search definitions" value={query.q ?? ''} onSettled={(q) => change({ q })} />
              <Found rows={all.filter(({ name }) => name.toLowerCase().includes(words))} elements={names} />
            </>
          )
        }
      </Show>
      {isNew && <NewDefinition onClose={() => setNew(false)} />}
    </div>
  );
}

function Found({
  rows,
  elements,
}: {
  readonly rows: readonly CommonResource[];
  readonly elements: ReadonlyMap<number, string>;
}) {
  if (rows.length === 0) return <Empty title="No definition matches. Change the search." />;
  return (
    <Table
      label="Definitions"
      columns={columnsFor(elements)}
      rows={rows}
      keyOf={({ name }) => name}
      linkOf={({ name }) => pathOfDefinition(name)}
    />
  );
}

function NewDefinition({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const create = async (form: FormData) => {
    const name = readText(form, 'objectName');
    const level = readText(form, 'level') === 'organization' ? 'organization' : 'account';
    await definitionCalls(name, { level }).create([]);
    route(pathOfDefinition(name));
  };
  return (
    <Dialog title="New definition" onClose={onClose}>
      <Form action="Create the definition" onSubmit={create} onCancel={onClose}>
        <Field
          label="Name"
          name="objectName"
          required
          maxLength={255}
          autocomplete="off"
          placeholder="myContacts"
          hint="A letter, then letters, digits, _ and -. Callers list the records under /name."
        />
        <LevelChoice action="create" />
      </Form>
    </Dialog>
  );
}
