import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Form, readText } from '../parts/form.tsx';
import { sayNumber } from '../parts/number.ts';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { LevelChoice } from './level-choice.tsx';
import { useLevelNeeds } from './levels.ts';
import { LIST_PATH, pathOfDefinition } from './paths.ts';

interface Entry {
  readonly name: string;
  readonly fields: readonly Schemas['DefinitionField'][];
}

async function listCatalogue(signal: AbortSignal): Promise<readonly Entry[]> {
  const query = { systemOnly: true };
  const all = await ask(api.GET('/organizations/objects/definitions', { signal, params: { query } }));
  return Object.entries(all).map(([name, { fields }]) => ({ name, fields }));
}

/** Lists the definitions that come with the service. The user can copy each of them to an own level. */
export function Catalogue() {
  const loaded = useLoad(listCatalogue, []);
  const [chosen, setChosen] = useState<Entry>();
  const needs = useLevelNeeds();
  const columns: readonly Column<Entry>[] = [
    { title: 'Definition', cell: ({ name }) => <span class="strong">{name}</span> },
    { title: 'Fields', isNumber: true, cell: ({ fields }) => sayNumber(fields.length) },
    {
      title: 'Names',
      isMinor: true,
      cell: ({ fields }) => <span class="small soft clamp">{fields.map(({ path }) => path).join(', ')}</span>,
    },
    {
      title: 'Action',
      cell: (entry) => (
        <button
          type="button"
          aria-label={`Take over ${entry.name}…`}
          onClick={() => setChosen(entry)}
          {...needs('account', 'create')}
        >
          Take over…
        </button>
      ),
    },
  ];
  return (
    <div class="stack">
      <a href={LIST_PATH}>← Mappings</a>
      <h1>Catalogue</h1>
      <p class="soft">
        Definitions of common objects that come with the service, with transformations for the elements that have such
        objects. One that you take over is your own: change its fields and transformations as you like.
      </p>
      <Show loaded={loaded}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="The catalogue is empty." />
          ) : (
            <Table label="Definitions of the catalogue" columns={columns} rows={rows} keyOf={({ name }) => name} />
          )
        }
      </Show>
      {chosen !== undefined && <TakeOver entry={chosen} onClose={() => setChosen(undefined)} />}
    </div>
  );
}

function TakeOver({ entry: { name, fields }, onClose }: { readonly entry: Entry; readonly onClose: () => void }) {
  const { route } = useLocation();
  const take = async (form: FormData) => {
    const level = readText(form, 'level') === 'organization' ? 'organization' : 'account';
    const query = { level, cloneAllTransformations: form.get('transformations') !== null } as const;
    await ask(api.POST('/vdrs/{id}/clone', { params: { path: { id: name }, query } }));
    route(pathOfDefinition(name));
  };
  return (
    <Dialog title={`Take over ${name}`} onClose={onClose}>
      <Form action="Take over" onSubmit={take} onCancel={onClose}>
        <LevelChoice action="create" />
        <label class="inline">
          <input type="checkbox" name="transformations" defaultChecked />
          With the transformations of all elements
        </label>
        <p class="small soft">
          Where an element has an object of the name <code>{name}</code>, callers then get the mapped records in place
          of the provider's.
        </p>
        <details>
          <summary>Its {fields.length} fields</summary>
          <p class="small break">{fields.map(({ path, type }) => `${path} (${type})`).join(', ')}</p>
        </details>
      </Form>
    </Dialog>
  );
}
