import { useId, useState } from 'preact/hooks';
import { choicesOf, type Field, faultOf, MASK } from './form-values.ts';
import { Words } from './words.tsx';

interface FieldProps {
  readonly field: Field;
  readonly value: string | boolean;
  /** The fault that the API reported. */
  readonly fault: string | undefined;
  /** Whether the user tried to continue. Then an empty field is a fault too. */
  readonly isTried: boolean;
  readonly onChange: (value: string | boolean) => void;
}

/** Shows one key of a configuration: its name, its description, how to get the value, and the fault of the entered value. */
export function FieldRow({ field, value, fault, isTried, onChange }: FieldProps) {
  const id = useId();
  const [isTouched, setTouched] = useState(false);
  // A field that was not filled in yet has no fault.
  const own = value !== '' || isTouched || isTried ? faultOf(field, value) : undefined;
  const shown = own ?? fault;
  const control = {
    id,
    'aria-describedby': `${id}-help`,
    'aria-invalid': shown !== undefined,
    onBlur: () => setTouched(true),
  };
  const help = (
    <div id={`${id}-help`} class="stack tight small">
      <span class="soft">
        <Words text={field.description} />
      </span>
      {shown !== undefined && (
        <span class="fault" role="alert">
          {shown}
        </span>
      )}
    </div>
  );
  if (field.type === 'boolean')
    return (
      <div class="field">
        <label class="inline">
          <input
            type="checkbox"
            checked={value === true || value === 'true'}
            onChange={({ currentTarget }) => onChange(currentTarget.checked)}
            {...control}
          />
          {field.name}
        </label>
        {help}
      </div>
    );
  return (
    <div class="field">
      <label for={id}>
        <span>
          {field.name} {!field.required && <span class="soft small">optional</span>}
        </span>
      </label>
      <Control field={field} value={String(value)} control={control} onChange={onChange} />
      {help}
      <Setup steps={field.setup} />
    </div>
  );
}

/** The attributes that every control of a field has. */
interface ControlAttributes {
  readonly id: string;
  readonly 'aria-describedby': string;
  readonly 'aria-invalid': boolean;
  readonly onBlur: () => void;
}

interface ControlProps {
  readonly field: Field;
  readonly value: string;
  readonly control: ControlAttributes;
  readonly onChange: (value: string) => void;
}

function Control({ field, value, control, onChange }: ControlProps) {
  const choices = choicesOf(field);
  if (choices !== undefined)
    return (
      <select {...control} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {(!field.required || !choices.includes(value)) && <option value="">–</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  if (field.type === 'object')
    return (
      <textarea
        {...control}
        class="mono"
        rows={5}
        spellcheck={false}
        placeholder={field.example}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  if (field.secret) return <SecretControl field={field} value={value} control={control} onChange={onChange} />;
  return (
    <input
      {...control}
      type="text"
      inputMode={field.type === 'number' ? 'decimal' : field.type === 'url' ? 'url' : 'text'}
      autocomplete="off"
      spellcheck={false}
      placeholder={field.example}
      required={field.required}
      value={value}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

/** A control for a secret, which is hidden until the user shows it. A stored secret is a mask, which typing replaces. */
function SecretControl({ field, value, control, onChange }: ControlProps) {
  const [isShown, setShown] = useState(false);
  const input = {
    ...control,
    autocomplete: 'new-password',
    spellcheck: false,
    placeholder: field.example,
    required: field.required,
    value,
    onFocus: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      if (value === MASK) currentTarget.select();
    },
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => onChange(currentTarget.value),
  };
  return (
    <div class="joined">
      {isShown ? <input {...input} type="text" /> : <input {...input} type="password" />}
      <button
        type="button"
        aria-label={`${isShown ? 'Hide' : 'Show'} ${field.name}`}
        disabled={value === MASK}
        title={value === MASK ? 'The service has a stored value, which it never shows.' : undefined}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? 'Hide' : 'Show'}
      </button>
    </div>
  );
}

function Setup({ steps }: { readonly steps: readonly string[] }) {
  if (steps.length === 0) return null;
  return (
    <details class="small">
      <summary>Where do I find this?</summary>
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
