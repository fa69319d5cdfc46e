import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, askPage, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery } from '../parts/query.ts';
import { Search } from '../parts/search.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useNeeds, useWho } from '../who.ts';
import { type Formula, MOST_LISTED } from './calls.ts';
import { ImportDialog } from './import.tsx';
import { pathOfFormula } from './paths.ts';
import { TRIGGER_TYPES } from './step-types.ts';

/** The number of instances in the account, by the id of the formula. */
interface Counts {
  readonly byFormula: ReadonlyMap<number, number>;
  /** Whether the account has more instances than were requested, so that the counts are too low. */
  readonly isPartial: boolean;
}

async function countInstances(signal: AbortSignal): Promise<Counts> {
  const query = { includeInactive: true, pageSize: MOST_LISTED };
  const { rows, nextPage } = await askPage<Schemas['ListedFormulaInstance']>(
    api.GET('/formulas/instances', { signal, params: { query } }),
  );
  const byFormula = new Map<number, number>();
  for (const { formula } of rows) byFormula.set(formula.id, (byFormula.get(formula.id) ?? 0) + 1);
  return { byFormula, isPartial: nextPage !== undefined };
}

function columnsFor(counts: Counts | undefined, ownAccountId: number): readonly Column<Formula>[] {
  return [
    { title: 'Formula', cell: ({ name }) => <span class="strong break">{name}</span> },
    { title: 'Trigger', cell: (formula) => <span class="break">{sayTrigger(formula)}</span> },
    {
      title: 'Instances',
      isNumber: true,
      cell: ({ id }) => {
        if (counts === undefined) return '';
        return `${counts.byFormula.get(id) ?? 0}${counts.isPartial ? '+' : ''}`;
      },
    },
    {
      title: 'State',
      cell: ({ active, accountId }) => (
        <span class="row">
          <Badge tone={active ? 'good' : 'quiet'}>{active ? 'active' : 'inactive'}</Badge>
          {accountId !== ownAccountId && <Badge tone="quiet">account {accountId}</Badge>}
        </span>
      ),
    },
    { title: 'Changed', isMinor: true, cell: ({ updatedDate }) => <Time at={updatedDate} /> },
  ];
}

function sayTrigger({ triggers: [trigger] }: Formula): string {
  if (trigger === undefined) return 'none yet';
  const { cron } = trigger.properties;
  const title = TRIGGER_TYPES[trigger.type].title;
  return trigger.type === 'scheduled' && typeof cron === 'string' ? `${title} · ${cron}` : title;
}

/** Lists the formulas that the user can see. */
export function FormulaList() {
  const { query, change } = useQuery();
  const { account } = useWho();
  const needs = useNeeds();
  const [opened, setOpened] = useState<'new' | 'import'>();
  const counts = useLoad(countInstances, []);
  const formulas = usePages<Formula>(
    (nextPage, signal) => {
      const page = { abridged: true, pageSize: MOST_LISTED, ...(nextPage !== undefined && { nextPage }) };
      return askPage<Formula>(api.GET('/formulas', { signal, params: { query: page } }));
    },
    [account.id],
  );
  const words = (query.q ?? '').trim().toLowerCase();
  return (
    <div class="stack">
      <header class="row apart">
        <h1>Formulas</h1>
        <span class="row">
          <button type="button" onClick={() => setOpened('import')} {...needs('createFormulas')}>
            Import…
          </button>
          <button type="button" class="main" onClick={() => setOpened('new')} {...needs('createFormulas')}>
            New formula…
          </button>
        </span>
      </header>
      <p class="soft">
        A formula runs steps on your connected accounts. Each of its instances chooses the accounts and runs the steps.
      </p>
      <Show loaded={formulas}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="There are no formulas yet.">
              <p>Create one, or import one from a JSON file.</p>
            </Empty>
          ) : (
            <>
              <Search label="Search formulas" value={query.q ?? ''} onSettled={(q) => change({ q })} />
              <Found
                rows={rows.filter(({ name }) => name.toLowerCase().includes(words))}
                columns={columnsFor(counts.value, account.id)}
              />
              <Pager {...formulas} />
            </>
          )
        }
      </Show>
      {opened === 'new' && <NewFormula onClose={() => setOpened(undefined)} />}
      {opened === 'import' && <ImportDialog onClose={() => setOpened(undefined)} />}
    </div>
  );
}

function Found({ rows, columns }: { readonly rows: readonly Formula[]; readonly columns: readonly Column<Formula>[] }) {
  if (rows.length === 0) return <Empty title="No formula matches. Change the search." />;
  return (
    <Table
      label="Formulas"
      columns={columns}
      rows={rows}
      keyOf={({ id }) => id}
      linkOf={({ id }) => pathOfFormula(id)}
    />
  );
}

function NewFormula({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const create = async (form: FormData) => {
    const description = readText(form, 'description');
    const body = { name: readText(form, 'name'), ...(description !== '' && { description }) };
    const { id } = await ask(api.POST('/formulas', { body }));
    route(pathOfFormula(id));
  };
  return (
    <Dialog title="New formula" onClose={onClose}>
      <Form action="Create the formula" onSubmit={create} onCancel={onClose}>
        <Field
          label="Name"
          name="name"
          required
          maxLength={255}
          autocomplete="off"
          placeholder="Contacts to the other CRM"
        />
        <Field label="Description" name="description" maxLength={4000} autocomplete="off" />
      </Form>
    </Dialog>
  );
}
