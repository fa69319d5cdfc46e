import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { useLoad } from '../load.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { useQuery } from '../parts/query.ts';
import { Show } from '../parts/show.tsx';
import { type LoadedDefinition, loadDefinition } from './calls.ts';
import { Coverage } from './coverage.tsx';
import { DefinitionFields } from './fields.tsx';
import { needsOneOf, type Owner, useLevelNeeds } from './levels.ts';
import { type DefinitionTab, LIST_PATH, pathOfDefinition, sayLevel } from './paths.ts';
import { TryOutPart } from './try-out.tsx';

const TABS: Readonly<Record<DefinitionTab, string>> = {
  '': 'Fields',
  transformations: 'Transformations',
  try: 'Try out',
};
const TAB_NAMES = ['', 'transformations', 'try'] as const satisfies readonly DefinitionTab[];

interface DefinitionPageProps {
  readonly name: string;
  readonly tab: DefinitionTab;
}

/** Shows one definition with its tabs. */
export function DefinitionPage({ name, tab }: DefinitionPageProps) {
  const loaded = useLoad((signal) => loadDefinition(name, signal), [name]);
  return (
    <div class="stack">
      <a href={LIST_PATH}>← Mappings</a>
      <Show loaded={loaded}>
        {(definition) => (
          <>
            <Head definition={definition} />
            <nav class="tabs" aria-label="Parts of the definition">
              {TAB_NAMES.map((each) => (
                <a key={each} href={pathOfDefinition(name, each)} aria-current={each === tab ? 'page' : undefined}>
                  {TABS[each]}
                </a>
              ))}
            </nav>
            <Part tab={tab} definition={definition} onChanged={loaded.reload} />
          </>
        )}
      </Show>
    </div>
  );
}

interface PartProps {
  readonly tab: DefinitionTab;
  readonly definition: LoadedDefinition;
  readonly onChanged: () => void;
}

function Part({ tab, definition, onChanged }: PartProps) {
  const { query, change } = useQuery();
  const { resource } = definition;
  if (tab === 'transformations') return <Coverage resource={resource} />;
  if (tab === 'try')
    return (
      <TryOutPart
        objectName={resource.name}
        instance={query.instance}
        onInstance={(instance) => change({ instance })}
      />
    );
  return <DefinitionFields definition={definition} onChanged={onChanged} />;
}

function Head({ definition: { resource, owners } }: { readonly definition: LoadedDefinition }) {
  const [opened, setOpened] = useState<'rename' | 'delete'>();
  const needs = useLevelNeeds();
  const { name } = resource;
  // Without a level, the service chooses the highest one that the user may change.
  const levels = owners.map(({ level }) => level);
  const close = () => setOpened(undefined);
  return (
    <header class="row apart">
      <h1 class="break">{name}</h1>
      <span class="row">
        <button type="button" onClick={() => setOpened('rename')} {...needsOneOf(needs, levels, 'edit')}>
          Rename…
        </button>
        <button
          type="button"
          class="danger"
          onClick={() => setOpened('delete')}
          {...needsOneOf(needs, levels, 'delete')}
        >
          Delete…
        </button>
      </span>
      {opened === 'rename' && <Rename name={name} onClose={close} />}
      {opened === 'delete' && <Delete name={name} owners={owners} onClose={close} />}
    </header>
  );
}

function Rename({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const { route } = useLocation();
  const rename = async (form: FormData) => {
    const body = { name: readText(form, 'name') };
    const renamed = await ask(api.PATCH('/common-resources/{name}', { params: { path: { name } }, body }));
    onClose();
    route(pathOfDefinition(renamed.name));
  };
  return (
    <Dialog title={`Rename ${name}`} onClose={onClose}>
      <p>Its transformations are renamed with it. Calls under the old name then return 404.</p>
      <Form action="Rename" onSubmit={rename} onCancel={onClose}>
        <Field label="New name" name="name" value={name} required maxLength={255} autocomplete="off" />
      </Form>
    </Dialog>
  );
}

interface DeleteProps {
  readonly name: string;
  readonly owners: readonly Owner[];
  readonly onClose: () => void;
}

function Delete({ name, owners, onClose }: DeleteProps) {
  const { route } = useLocation();
  const remove = async () => {
    await ask(api.DELETE('/common-resources/{name}', { params: { path: { name } } }));
    route(LIST_PATH);
  };
  const levels = owners.map((owner) =>
    sayLevel(owner.level, owner.level === 'instance' ? owner.instanceId : undefined),
  );
  return (
    <Confirm title={`Delete ${name}?`} action="Delete the definition" onConfirm={remove} onClose={onClose}>
      <ul class="bullets">
        <li>Its fields are deleted at every level that you may change: {levels.join(', ')}.</li>
        <li>A definition that a transformation uses is not deleted. Delete its transformations first.</li>
      </ul>
    </Confirm>
  );
}
