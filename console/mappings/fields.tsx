import { useState } from 'preact/hooks';
import { useAction } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Empty, ErrorNote } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { type AssociatedField, changeFields, type LoadedDefinition, ownerOf } from './calls.ts';
import { FieldDialog } from './field-dialog.tsx';
import { needsOneOf, useLevelNeeds } from './levels.ts';
import { sayLevel } from './paths.ts';
import { LEVELS } from './transformation-form.ts';

interface DefinitionFieldsProps {
  readonly definition: LoadedDefinition;
  readonly onChanged: () => void;
}

/** Lists the fields of all levels, and adds, changes and removes fields. */
export function DefinitionFields({ definition, onChanged }: DefinitionFieldsProps) {
  const { name, fields } = definition.resource;
  const needs = useLevelNeeds();
  const [edited, setEdited] = useState<AssociatedField | 'new'>();
  const remove = useAction(async (field: AssociatedField) => {
    await changeFields(name, ownerOf(field), (all) => all.filter(({ path }) => path !== field.path));
    onChanged();
  });
  const columns: readonly Column<AssociatedField>[] = [
    { title: 'Path', cell: ({ path }) => <code class="roomy break">{path}</code> },
    { title: 'Type', cell: ({ type }) => <span class="whole">{type}</span> },
    { title: 'Name for people', isMinor: true, cell: ({ displayName }) => displayName ?? <span class="soft">–</span> },
    {
      title: 'Level',
      cell: ({ associatedLevel, associatedId }) => (
        <Badge tone="quiet">{sayLevel(associatedLevel, associatedId)}</Badge>
      ),
    },
    {
      title: 'Actions',
      cell: (field) => (
        <span class="row">
          <button
            type="button"
            class="plain"
            aria-label={`Change ${field.path}…`}
            onClick={() => setEdited(field)}
            {...needs(field.associatedLevel, 'edit')}
          >
            Change…
          </button>
          <button
            type="button"
            class="plain"
            aria-label={`Remove ${field.path}`}
            disabled={remove.isRunning}
            onClick={() => remove.run(field)}
            {...needs(field.associatedLevel, 'edit')}
          >
            Remove
          </button>
        </span>
      ),
    },
  ];
  return (
    <section class="stack tight" aria-label="Fields of the definition">
      <div class="row apart">
        <p class="soft grow">
          A field of a lower level replaces one with the same path above it: instance, then account, then organization.
        </p>
        <button type="button" class="main" onClick={() => setEdited('new')} {...needsOneOf(needs, LEVELS, 'edit')}>
          Add a field…
        </button>
      </div>
      <ErrorNote error={remove.error} />
      {fields.length === 0 ? (
        <Empty title="The definition has no fields yet.">
          <p>Add them here, or in the editor of a transformation, which adds the fields that it maps.</p>
        </Empty>
      ) : (
        <Table
          label="Fields"
          columns={columns}
          rows={fields}
          keyOf={({ path, associatedLevel, associatedId }) => `${associatedLevel} ${associatedId} ${path}`}
        />
      )}
      {edited !== undefined && (
        <FieldDialog
          objectName={name}
          before={edited === 'new' ? undefined : edited}
          owners={definition.owners}
          onSaved={onChanged}
          onClose={() => setEdited(undefined)}
        />
      )}
    </section>
  );
}
