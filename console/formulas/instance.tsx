import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { useAction, useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Fact } from '../parts/fact.tsx';
import { ErrorNote, Show } from '../parts/show.tsx';
import { Time } from '../parts/time.tsx';
import { useNeeds } from '../who.ts';
import type { Formula, FormulaInstance } from './calls.ts';
import { Executions } from './executions.tsx';
import { InstanceForm } from './instance-form.tsx';
import { pathOfFormula } from './paths.ts';
import { TestRun } from './test-run.tsx';

interface LoadedInstance {
  readonly instance: FormulaInstance;
  readonly formula: Formula;
}

async function load(id: number, signal: AbortSignal): Promise<LoadedInstance> {
  const instance = await ask(
    api.GET('/formulas/instances/{instanceId}', { signal, params: { path: { instanceId: id } } }),
  );
  const params = { path: { id: instance.formula.id } };
  return { instance, formula: await ask(api.GET('/formulas/{id}', { signal, params })) };
}

/** Shows a formula instance: its values and its executions. */
export function InstancePage({ id }: { readonly id: number }) {
  const loaded = useLoad((signal) => load(id, signal), [id]);
  const [turn, setTurn] = useState(0);
  return (
    <div class="stack">
      <Show loaded={loaded}>
        {({ instance, formula }) => (
          <>
            <a href={pathOfFormula(formula.id, 'instances')}>← {formula.name}</a>
            <Head instance={instance} formula={formula} onChanged={loaded.reload} onStarted={() => setTurn(turn + 1)} />
            <Warnings instance={instance} formula={formula} />
            <Facts instance={instance} formula={formula} />
            <Executions key={turn} instanceId={id} />
          </>
        )}
      </Show>
    </div>
  );
}

interface PartProps {
  readonly instance: FormulaInstance;
  readonly formula: Formula;
}

function Warnings({ instance: { warnings = [], active }, formula }: PartProps) {
  const all = [...warnings, ...(active && !formula.active ? ['The formula is inactive, so nothing starts.'] : [])];
  if (all.length === 0) return null;
  return (
    <div class="note warn" role="status">
      {all.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
    </div>
  );
}

function Facts({ instance: { id, configuration, settings, createdDate }, formula }: PartProps) {
  const variables = new Map(formula.configuration.map((variable) => [variable.key, variable]));
  return (
    <dl class="facts given">
      {Object.entries(configuration).map(([key, value]) => (
        <Fact key={key} name={variables.get(key)?.name ?? key}>
          {variables.get(key)?.type === 'elementInstance' ? (
            <a href={`/console/instances/${encodeURIComponent(value)}`}>#{value}</a>
          ) : (
            value
          )}
        </Fact>
      ))}
      {Object.entries(settings).map(([name, value]) => (
        <Fact key={name} name={name}>
          {String(value)}
        </Fact>
      ))}
      <Fact name="Id">{id}</Fact>
      <Fact name="Created">
        <Time at={createdDate} />
      </Fact>
    </dl>
  );
}

interface HeadProps extends PartProps {
  readonly onChanged: () => void;
  readonly onStarted: () => void;
}

function Head({ instance, formula, onChanged, onStarted }: HeadProps) {
  const { id, name, active } = instance;
  const needs = useNeeds()('createFormulaInstances');
  const [opened, setOpened] = useState<'run' | 'change' | 'delete'>();
  const close = () => setOpened(undefined);
  const params = { path: { id: formula.id, instanceId: id } };
  const toggle = useAction(async () => {
    const path = '/formulas/{id}/instances/{instanceId}/active';
    await ask(active ? api.DELETE(path, { params }) : api.PUT(path, { params }));
    onChanged();
  });
  return (
    <>
      <header class="row apart">
        <h1 class="row">
          <span class="break">{name}</span>{' '}
          <Badge tone={active ? 'good' : 'quiet'}>{active ? 'active' : 'inactive'}</Badge>
        </h1>
        <span class="row">
          <button type="button" {...(toggle.isRunning && { disabled: true })} onClick={() => toggle.run()} {...needs}>
            {active ? 'Deactivate' : 'Activate'}
          </button>
          <button type="button" onClick={() => setOpened('change')} {...needs}>
            Change…
          </button>
          <button type="button" class="danger" onClick={() => setOpened('delete')} {...needs}>
            Delete…
          </button>
          <button type="button" class="main" onClick={() => setOpened('run')} {...needs}>
            Run…
          </button>
        </span>
      </header>
      <ErrorNote error={toggle.error} />
      {opened === 'run' && (
        <TestRun
          instanceId={id}
          trigger={formula.triggers[0]?.type ?? 'manual'}
          onSeveral={onStarted}
          onClose={close}
        />
      )}
      {opened === 'change' && (
        <Dialog title={`Change ${name}`} onClose={close}>
          <InstanceForm
            formula={formula}
            before={instance}
            onSaved={() => {
              onChanged();
              close();
            }}
            onCancel={close}
          />
        </Dialog>
      )}
      {opened === 'delete' && <DeleteInstance instance={instance} formula={formula} onClose={close} />}
    </>
  );
}

function DeleteInstance({ instance, formula, onClose }: PartProps & { readonly onClose: () => void }) {
  const { route } = useLocation();
  const remove = async () => {
    const path = { instanceId: instance.id };
    await ask(api.DELETE('/formulas/instances/{instanceId}', { params: { path } }));
    route(pathOfFormula(formula.id, 'instances'));
  };
  return (
    <Confirm title={`Delete ${instance.name}?`} action="Delete the instance" onConfirm={remove} onClose={onClose}>
      <p>Executions that have not ended are cancelled.</p>
    </Confirm>
  );
}
