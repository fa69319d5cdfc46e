import { useState } from 'preact/hooks';
import { printName } from '../../src/where/print.ts';
import {
  EVALUATORS,
  type Evaluator,
  evaluatorOf,
  type ObjectField,
  type ObjectFields,
  operatorsOf,
} from './metadata.ts';

interface FieldsProps {
  readonly metadata: ObjectFields;
  readonly onInsert: (text: string) => void;
}

const MANY = 12;

/** Shows the fields of the object, with the operators of each. */
export function Fields({ metadata: { fields, parameters }, onInsert }: FieldsProps) {
  const [words, setWords] = useState('');
  const wanted = words.trim().toLowerCase();
  const shown = fields.filter(({ name, label }) => `${name}\n${label}`.toLowerCase().includes(wanted));
  return (
    <div class="stack tight">
      {fields.length > MANY && (
        <input
          type="search"
          aria-label="Search fields"
          placeholder={`Search ${fields.length} fields  ( / )`}
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      )}
      <ul class="plain-list long">
        {shown.map((field) => (
          <Field key={field.name} field={field} onInsert={onInsert} />
        ))}
      </ul>
      {shown.length === 0 && <p class="soft">No field matches. Change the search.</p>}
      {parameters.length > 0 && (
        <>
          <h3>Parameters</h3>
          <ul class="plain-list">
            {parameters.map(({ name, type, description }) => (
              <li key={name}>
                <NameButton name={name} onInsert={onInsert} /> <span class="soft small">{type}</span>
                <p class="soft small">{description}</p>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function Field({ field, onInsert }: { readonly field: ObjectField; readonly onInsert: (text: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <div class="row apart tight-row">
        <span class="grow">
          <NameButton name={field.name} onInsert={onInsert} />
        </span>
        <button
          type="button"
          class="plain small soft"
          aria-expanded={isOpen}
          aria-label={`${field.type}: operators of ${field.name}`}
          title="Its operators, and who evaluates them"
          onClick={() => setOpen(!isOpen)}
        >
          {field.type} {isOpen ? '▾' : '▸'}
        </button>
      </div>
      {isOpen && <FieldFacts field={field} />}
    </li>
  );
}

function NameButton({ name, onInsert }: { readonly name: string; readonly onInsert: (text: string) => void }) {
  return (
    <button
      type="button"
      class="plain mono break"
      title="Insert into the filter"
      onClick={() => onInsert(printName(name))}
    >
      {name}
    </button>
  );
}

const ORDER: readonly Evaluator[] = ['exact', 'superset', 'here'];

function FieldFacts({ field }: { readonly field: ObjectField }) {
  const operators = operatorsOf(field);
  const abilities = [
    field.identifier === true && 'identifies a record',
    field.required && 'required',
    field.nullable && 'may be null',
    field.sortable ? 'sortable' : 'not sortable',
    field.readOnly ? 'read only' : field.updateable ? 'writable' : 'set on create only',
    field.custom && 'custom',
    field.unlisted === true && 'only in single records, not in lists, filters and orders',
    field.collation === 'ci' && 'ignores letter case',
  ].filter((ability) => ability !== false);
  const groups = ORDER.map((evaluator) => ({
    evaluator,
    operators: operators.filter((operator) => evaluatorOf(field, operator) === evaluator),
  }));
  return (
    <div class="stack tight field-facts small">
      {field.label !== field.name && <p>{field.label}</p>}
      <p class="soft">{abilities.join(' · ')}</p>
      <p class="soft break">
        At the provider <code>{field.nativeName}</code>
        {field.nativeType !== undefined && ` (${field.nativeType})`}
        {field.format !== undefined && `, format ${field.format}`}
      </p>
      {field.unlisted !== true &&
        groups
          .filter((group) => group.operators.length > 0)
          .map((group) => (
            <p key={group.evaluator}>
              <span class="soft">Evaluated {EVALUATORS[group.evaluator]}: </span>
              <code>{group.operators.join(', ')}</code>
            </p>
          ))}
      {field.values !== undefined && (
        <p class="break">
          <span class="soft">Values: </span>
          <code>{field.values.join(', ')}</code>
        </p>
      )}
    </div>
  );
}
