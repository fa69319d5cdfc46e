import { useState } from 'preact/hooks';
import { api, ask } from '../api.ts';
import { Badge } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { Empty } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import type { LoadedFormula } from './calls.ts';
import type { Variable } from './flow.ts';
import { type Refused, useFormulaNeeds } from './use-formula-needs.ts';

interface VariablesPartProps {
  readonly loaded: LoadedFormula;
  readonly onChanged: () => void;
}

type Opened =
  | { readonly kind: 'edit'; readonly before: Variable | undefined }
  | { readonly kind: 'delete'; readonly before: Variable };

const TYPES: Readonly<Record<string, string>> = { elementInstance: 'Element instance', value: 'Value' };

function columnsFor(needs: Refused, open: (opened: Opened) => void): readonly Column<Variable>[] {
  return [
    {
      title: 'Variable',
      cell: ({ key, name }) => (
        <>
          <code class="break">{key}</code>
          {name !== undefined && name !== key && <div class="small soft break">{name}</div>}
        </>
      ),
    },
    {
      title: 'Type',
      cell: ({ type, required }) => (
        <span class="row">
          {TYPES[type] ?? type} {required === true && <Badge tone="quiet">required</Badge>}
        </span>
      ),
    },
    { title: 'Description', isMinor: true, cell: ({ description }) => <span class="break">{description}</span> },
    {
      title: 'Actions',
      cell: (before) => (
        <span class="row">
          <button
            type="button"
            class="plain"
            aria-label={`Change ${before.key}…`}
            onClick={() => open({ kind: 'edit', before })}
            {...needs}
          >
            Change…
          </button>
          <button
            type="button"
            class="plain"
            aria-label={`Delete ${before.key}…`}
            onClick={() => open({ kind: 'delete', before })}
            {...needs}
          >
            Delete…
          </button>
        </span>
      ),
    },
  ];
}

/** Shows and changes the variables of a formula. */
export function VariablesPart({ loaded: { formula, content }, onChanged }: VariablesPartProps) {
  const [opened, setOpened] = useState<Opened>();
  const needs = useFormulaNeeds()(formula, 'editFormulas');
  const close = () => setOpened(undefined);
  return (
    <section class="stack" aria-label="Variables">
      <div class="row apart">
        <p class="soft">Each formula instance has its own values of the variables.</p>
        <button type="button" onClick={() => setOpened({ kind: 'edit', before: undefined })} {...needs}>
          Add a variable…
        </button>
      </div>
      {content.configuration.length === 0 ? (
        <Empty title="The formula has no variables yet.">
          <p>Add one for each connected account that the steps use.</p>
        </Empty>
      ) : (
        <Table
          label="Variables of the formula"
          columns={columnsFor(needs, setOpened)}
          rows={content.configuration}
          keyOf={({ id }) => id}
        />
      )}
      {opened?.kind === 'edit' && (
        <VariableDialog formulaId={formula.id} before={opened.before} onSaved={onChanged} onClose={close} />
      )}
      {opened?.kind === 'delete' && (
        <DeleteVariable formulaId={formula.id} before={opened.before} onDeleted={onChanged} onClose={close} />
      )}
    </section>
  );
}

interface VariableDialogProps {
  readonly formulaId: number;
  readonly before: Variable | undefined;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

function VariableDialog({ formulaId: id, before, onSaved, onClose }: VariableDialogProps) {
  const save = async (form: FormData) => {
    const [name, description] = [readText(form, 'name'), readText(form, 'description')];
    const body = {
      key: readText(form, 'key'),
      type: readText(form, 'type'),
      required: form.get('required') !== null,
      ...(name !== '' && { name }),
      ...(description !== '' && { description }),
    };
    const call =
      before === undefined
        ? api.POST('/formulas/{id}/configuration', { params: { path: { id } }, body })
        : api.PUT('/formulas/{id}/configuration/{configurationId}', {
            params: { path: { id, configurationId: before.id } },
            body,
          });
    await ask(call);
    onSaved();
    onClose();
  };
  const type = before?.type ?? 'elementInstance';
  return (
    <Dialog title={before === undefined ? 'Add a variable' : `Change ${before.key}`} onClose={onClose}>
      <Form action={before === undefined ? 'Add the variable' : 'Save'} onSubmit={save} onCancel={onClose}>
        <Field
          label="Key"
          name="key"
          value={before?.key}
          required
          maxLength={255}
          autocomplete="off"
          placeholder="crm"
          hint={
            before === undefined
              ? 'Steps refer to the value by ${config.key}.'
              : 'If you change the key, the service changes the references in the trigger and the steps.'
          }
        />
        <label>
          Type
          <select name="type">
            {Object.entries({ ...TYPES, ...(TYPES[type] === undefined && { [type]: type }) }).map(([each, title]) => (
              <option key={each} value={each} selected={each === type}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <Field label="Name for people" name="name" value={before?.name} maxLength={255} autocomplete="off" />
        <Field label="Description" name="description" value={before?.description} maxLength={4000} autocomplete="off" />
        <label class="inline">
          <input type="checkbox" name="required" defaultChecked={before?.required ?? true} />
          Formula instances must set a value
        </label>
      </Form>
    </Dialog>
  );
}

interface DeleteVariableProps {
  readonly formulaId: number;
  readonly before: Variable;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

function DeleteVariable({ formulaId: id, before, onDeleted, onClose }: DeleteVariableProps) {
  const remove = async () => {
    const path = { id, configurationId: before.id };
    await ask(api.DELETE('/formulas/{id}/configuration/{configurationId}', { params: { path } }));
    onDeleted();
  };
  return (
    <Confirm title={`Delete ${before.key}?`} action="Delete the variable" onConfirm={remove} onClose={onClose}>
      <p>
        The references to the variable stay, and steps with such a reference fail. While the formula has instances, you
        cannot delete its variables.
      </p>
    </Confirm>
  );
}
