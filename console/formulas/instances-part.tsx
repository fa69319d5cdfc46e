import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useNeeds } from '../who.ts';
import { type Formula, type FormulaInstance, listInstancesOf } from './calls.ts';
import { InstanceForm } from './instance-form.tsx';
import { pathOfInstance } from './paths.ts';

const COLUMNS: readonly Column<FormulaInstance>[] = [
  { title: 'Instance', cell: ({ name }) => <span class="strong break">{name}</span> },
  {
    title: 'State',
    cell: ({ active, warnings = [] }) => (
      <div class="stack tight">
        <span>
          <Badge tone={active ? 'good' : 'quiet'}>{active ? 'active' : 'inactive'}</Badge>
        </span>
        {warnings.map((warning) => (
          <span key={warning} class="small soft">
            {warning}
          </span>
        ))}
      </div>
    ),
  },
  {
    title: 'Values',
    isMinor: true,
    cell: ({ configuration }) => (
      <span class="small break">
        {Object.entries(configuration)
          .map(([key, value]) => `${key} = ${value}`)
          .join(', ')}
      </span>
    ),
  },
  { title: 'Created', isMinor: true, cell: ({ createdDate }) => <Time at={createdDate} /> },
];

/** Lists the instances of a formula in the account. */
export function InstancesPart({ formula }: { readonly formula: Formula }) {
  const { route } = useLocation();
  const needs = useNeeds();
  const instances = useLoad((signal) => listInstancesOf(formula.id, signal), [formula.id]);
  const [isNew, setNew] = useState(false);
  return (
    <section class="stack" aria-label="Instances">
      <div class="row apart">
        <p class="soft">An instance sets the values of the variables, and runs the formula.</p>
        <button type="button" class="main" onClick={() => setNew(true)} {...needs('createFormulaInstances')}>
          New instance…
        </button>
      </div>
      <Show loaded={instances}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="The formula has no instances in this account yet." />
          ) : (
            <Table
              label="Instances of the formula"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => pathOfInstance(id)}
            />
          )
        }
      </Show>
      {isNew && (
        <Dialog title={`New instance of ${formula.name}`} onClose={() => setNew(false)}>
          <InstanceForm
            formula={formula}
            before={undefined}
            onSaved={({ id }) => route(pathOfInstance(id))}
            onCancel={() => setNew(false)}
          />
        </Dialog>
      )}
    </section>
  );
}
