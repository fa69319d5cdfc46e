import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { useAction, useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { ErrorNote, Show } from '../parts/show.tsx';
import { type Formula, type LoadedFormula, loadFormula } from './calls.ts';
import { InstancesPart } from './instances-part.tsx';
import { type FormulaTab, LIST_PATH, pathOfFormula } from './paths.ts';
import { SettingsPart } from './settings-part.tsx';
import { StepsPart } from './steps-part.tsx';
import { useFormulaNeeds } from './use-formula-needs.ts';
import { VariablesPart } from './variables-part.tsx';

const TABS: Readonly<Record<FormulaTab, string>> = {
  '': 'Steps',
  variables: 'Variables',
  instances: 'Instances',
  settings: 'Settings',
};
const TAB_NAMES = ['', 'variables', 'instances', 'settings'] as const satisfies readonly FormulaTab[];

interface FormulaPageProps {
  readonly id: number;
  readonly tab: FormulaTab;
}

/** Shows one formula with its tabs. */
export function FormulaPage({ id, tab }: FormulaPageProps) {
  const loaded = useLoad((signal) => loadFormula(id, signal), [id]);
  return (
    <div class="stack">
      <a href={LIST_PATH}>← Formulas</a>
      <Show loaded={loaded}>
        {(value) => (
          <>
            <Head formula={value.formula} onChanged={loaded.reload} />
            <nav class="tabs" aria-label="Parts of the formula">
              {TAB_NAMES.map((each) => (
                <a key={each} href={pathOfFormula(id, each)} aria-current={each === tab ? 'page' : undefined}>
                  {TABS[each]}
                </a>
              ))}
            </nav>
            <Part tab={tab} loaded={value} onChanged={loaded.reload} />
          </>
        )}
      </Show>
    </div>
  );
}

interface PartProps {
  readonly tab: FormulaTab;
  readonly loaded: LoadedFormula;
  readonly onChanged: () => void;
}

function Part({ tab, loaded, onChanged }: PartProps) {
  if (tab === 'variables') return <VariablesPart loaded={loaded} onChanged={onChanged} />;
  if (tab === 'instances') return <InstancesPart formula={loaded.formula} />;
  if (tab === 'settings') return <SettingsPart formula={loaded.formula} onChanged={onChanged} />;
  return <StepsPart loaded={loaded} onChanged={onChanged} />;
}

function Head({ formula, onChanged }: { readonly formula: Formula; readonly onChanged: () => void }) {
  const { id, name, active, description } = formula;
  const needs = useFormulaNeeds();
  const [isDeleting, setDeleting] = useState(false);
  const toggle = useAction(async () => {
    await ask(api.PATCH('/formulas/{id}', { params: { path: { id } }, body: { active: !active } }));
    onChanged();
  });
  const save = useAction(async () => saveExport(formula));
  return (
    <>
      <header class="row apart">
        <h1 class="row">
          <span class="break">{name}</span>{' '}
          <Badge tone={active ? 'good' : 'quiet'}>{active ? 'active' : 'inactive'}</Badge>
        </h1>
        <span class="row">
          <button
            type="button"
            {...(toggle.isRunning && { disabled: true })}
            onClick={() => toggle.run()}
            {...needs(formula, 'editFormulas')}
          >
            {active ? 'Deactivate' : 'Activate'}
          </button>
          <button type="button" disabled={save.isRunning} onClick={() => save.run()}>
            Export
          </button>
          <button type="button" class="danger" onClick={() => setDeleting(true)} {...needs(formula, 'deleteFormulas')}>
            Delete…
          </button>
        </span>
      </header>
      {description !== undefined && <p class="soft break">{description}</p>}
      <ErrorNote error={toggle.error ?? save.error} />
      {isDeleting && <DeleteFormula formula={formula} onClose={() => setDeleting(false)} />}
    </>
  );
}

/** Lets the browser save the formula as `POST /formulas` accepts it. */
async function saveExport({ id, name }: Formula): Promise<void> {
  const file = await ask(api.GET('/formulas/{id}/export', { params: { path: { id } } }));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify(file, null, 2)], { type: 'application/json' }));
  link.download = `${name.replaceAll(/[^\p{L}\p{N}._ -]+/gu, '-')}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function DeleteFormula({
  formula: { id, name },
  onClose,
}: {
  readonly formula: Formula;
  readonly onClose: () => void;
}) {
  const { route } = useLocation();
  const remove = async () => {
    await ask(api.DELETE('/formulas/{id}', { params: { path: { id } } }));
    route(LIST_PATH);
  };
  return (
    <Confirm title={`Delete ${name}?`} action="Delete the formula" onConfirm={remove} onClose={onClose}>
      <ul class="bullets">
        <li>Its versions are deleted too. Export it first if you may need it again.</li>
        <li>A formula that has instances, in any account, is not deleted. Delete them first.</li>
      </ul>
    </Confirm>
  );
}
