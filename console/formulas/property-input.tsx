import { useId } from 'preact/hooks';
import { api, askPage } from '../api.ts';
import { useLoad } from '../load.ts';
import { type Formula, MOST_LISTED } from './calls.ts';
import type { Completion } from './completion.ts';
import type { Variable } from './flow.ts';
import { ReferenceField } from './reference-field.tsx';
import { METHODS, type PropertyField } from './step-types.ts';

interface PropertyInputProps {
  readonly field: PropertyField;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly messages: readonly string[];
  readonly completions: readonly Completion[];
  readonly codeCompletions: readonly Completion[];
  readonly variables: readonly Variable[];
  readonly formulaId: number;
}

/** A control for a property, chosen by the kind of the property. */
export function PropertyInput(props: PropertyInputProps) {
  const { field, value, onChange, messages, completions, codeCompletions } = props;
  const { title, hint, isRequired = false } = field;
  const common = { label: title, value, onChange, messages, isRequired, hint };
  switch (field.kind) {
    case 'code':
      return <ReferenceField {...common} completions={codeCompletions} rows={rowsFor(value, 6, 20)} isCode />;
    case 'value':
      return <ReferenceField {...common} completions={completions} rows={rowsFor(value, 3, 12)} />;
    case 'flag':
      return <Flag {...props} />;
    case 'method':
      return <Select {...common} choices={METHODS.map((method) => ({ value: method, title: method }))} />;
    case 'formula':
      return <FormulaChoice {...props} />;
    case 'instance':
      return <InstanceReference {...props} />;
    default:
      return <ReferenceField {...common} completions={completions} />;
  }
}

/** Returns the number of rows that a text needs, plus one to write in. */
function rowsFor(text: string, least: number, most: number): number {
  return Math.min(most, Math.max(least, text.split('\n').length + 1));
}

function Flag({ field: { title }, value, onChange }: PropertyInputProps) {
  return (
    <label class="inline">
      <input
        type="checkbox"
        checked={value === 'true'}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? 'true' : '')}
      />
      {title}
    </label>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly messages: readonly string[];
  readonly isRequired: boolean;
  readonly choices: readonly { readonly value: string; readonly title: string }[];
}

/** A choice of one of a few values. A stored value that is not among them, such as a reference, is kept. */
function Select({ label, value, onChange, messages, isRequired, choices }: SelectProps) {
  const id = useId();
  const isOther = value !== '' && !choices.some((choice) => choice.value === value);
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isRequired && ' *'}
      </label>
      <select
        id={id}
        value={value}
        aria-invalid={messages.length > 0}
        aria-describedby={messages.length > 0 ? `${id}-faults` : undefined}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        <option value="">–</option>
        {isOther && <option value={value}>{value}</option>}
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.title}
          </option>
        ))}
      </select>
      {messages.length > 0 && (
        <div id={`${id}-faults`} class="small fault">
          {messages.map((message) => (
            <div key={message}>{message}</div>
          ))}
        </div>
      )}
    </div>
  );
}

/** A choice of the formulas that this one can call without a circle of calls. */
function FormulaChoice({ field, value, onChange, messages, formulaId }: PropertyInputProps) {
  const { value: formulas = [] } = useLoad(
    async (signal) => {
      const query = { abridged: true, callableBy: formulaId, pageSize: MOST_LISTED };
      return (await askPage<Formula>(api.GET('/formulas', { signal, params: { query } }))).rows;
    },
    [formulaId],
  );
  return (
    <Select
      label={field.title}
      value={value}
      onChange={onChange}
      messages={messages}
      isRequired={field.isRequired === true}
      choices={formulas.map(({ id, name }) => ({ value: String(id), title: `${name} · #${id}` }))}
    />
  );
}

/** A field for the reference to an element instance. It suggests the variables that contain an instance. */
function InstanceReference({ field, value, onChange, messages, completions, variables }: PropertyInputProps) {
  const { title, hint, isRequired = false } = field;
  const fitting = variables.filter(({ type }) => type === 'elementInstance').map(({ key }) => `\${config.${key}}`);
  return (
    <div class="stack tight">
      <ReferenceField
        {...{ label: title, value, onChange, messages, completions, isRequired }}
        hint={fitting.length === 0 ? `${hint ?? ''} The formula has none yet: add one under Variables.` : undefined}
      />
      {fitting.length > 0 && (
        <div class="chips">
          {fitting.map((reference) => (
            <button
              key={reference}
              type="button"
              class="chip"
              aria-pressed={value === reference}
              onClick={() => onChange(reference)}
            >
              {reference}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
