import { useState } from 'preact/hooks';
import { choicesOf, findFault } from './check.ts';
import type { Field } from './session.ts';
import { texts } from './texts.ts';
import { Words } from './words.tsx';

interface FieldProps {
  readonly field: Field;
  readonly value: string | boolean;
  readonly onValue: (value: string | boolean) => void;
  /** The fault that was found when the form was last sent. */
  readonly fault: string | undefined;
}

export function fieldId(key: string): string {
  return `field-${key}`;
}

/** Shows a field with its description, how to get the value, and the fault of the entered value. */
export function FieldInput(props: FieldProps) {
  const { field, value } = props;
  const fault = props.fault ?? findFault(field, value);
  const id = fieldId(field.key);
  if (field.type === 'boolean') return <Flag {...props} id={id} />;
  const described = { id, 'aria-describedby': `${id}-help ${id}-hint`, 'aria-invalid': fault !== undefined };
  return (
    <div class="field">
      <label for={id}>
        <span class="strong">
          <bdi lang="en">{field.name}</bdi> {!field.required && <span class="small soft">{texts.form.optional}</span>}
        </span>
      </label>
      <p id={`${id}-help`} class="small soft">
        <Words text={field.description} />
      </p>
      <Setup steps={field.setup} />
      <Entry {...props} described={described} />
      <p id={`${id}-hint`} class={fault === undefined ? 'hint soft' : 'hint fault'} aria-live="polite">
        {fault ?? (field.example !== undefined && texts.form.example(field.example))}
      </p>
    </div>
  );
}

interface EntryProps extends FieldProps {
  readonly described: { readonly id: string; readonly 'aria-describedby': string; readonly 'aria-invalid': boolean };
}

function Entry({ field, value, onValue, described }: EntryProps) {
  const [isShown, setShown] = useState(false);
  const choices = choicesOf(field);
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    onValue(currentTarget.value);
  if (choices !== undefined)
    return (
      <select {...described} value={String(value)} onInput={onInput}>
        <option value="">{texts.form.select}</option>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  const attributes = {
    ...described,
    dir: 'auto',
    inputMode: INPUT_MODES[field.type],
    autocomplete: field.secret ? 'new-password' : 'off',
    autocapitalize: 'none',
    spellcheck: false,
    'aria-required': field.required,
    value: String(value),
    onInput,
  } as const;
  if (!field.secret) return <input type="text" {...attributes} />;
  return (
    <span class="row beside">
      {isShown ? <input type="text" {...attributes} /> : <input type="password" {...attributes} />}
      <button
        type="button"
        aria-pressed={isShown}
        aria-label={texts.form.showField(field.name)}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? texts.form.hide : texts.form.show}
      </button>
    </span>
  );
}

const INPUT_MODES: Readonly<Record<Field['type'], 'text' | 'decimal' | 'url'>> = {
  string: 'text',
  boolean: 'text',
  object: 'text',
  number: 'decimal',
  url: 'url',
};

function Flag({ field, value, onValue, fault, id }: FieldProps & { readonly id: string }) {
  return (
    <div class="field">
      <label class="inline">
        <input
          id={id}
          type="checkbox"
          aria-describedby={`${id}-help`}
          checked={value === true}
          onInput={({ currentTarget }) => onValue(currentTarget.checked)}
        />
        <bdi class="strong" lang="en">
          {field.name}
        </bdi>
      </label>
      <p id={`${id}-help`} class="small soft">
        <Words text={field.description} />
      </p>
      {fault !== undefined && <p class="small fault">{fault}</p>}
    </div>
  );
}

function Setup({ steps }: { readonly steps: readonly string[] }) {
  if (steps.length === 0) return null;
  return (
    <details class="small">
      <summary>{texts.form.where}</summary>
      <ol>
        {steps.map((step) => (
          <li key={step}>
            <Words text={step} />
          </li>
        ))}
      </ol>
    </details>
  );
}
