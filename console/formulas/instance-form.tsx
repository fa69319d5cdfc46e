import { api, ask } from '../api.ts';
import { Field, Form, readText } from '../parts/form.tsx';
import { useInstances } from '../parts/instance-choice.tsx';
import { ErrorNote } from '../parts/show.tsx';
import type { Formula, FormulaInstance } from './calls.ts';
import type { Variable } from './flow.ts';

/** The settings of a formula instance, with an explanation of each. */
const SETTINGS = [
  {
    name: 'notification.email',
    title: 'Mail about failures to',
    hint: 'Addresses, separated by commas.',
    placeholder: 'ops@example.com',
  },
  {
    name: 'notification.webhook.url',
    title: 'Events about failures to',
    hint: 'URLs, separated by commas.',
    placeholder: 'https://ops.example.com/formulas',
  },
  {
    name: 'api',
    title: 'As a resource',
    hint: 'A method and a path under which callers run this instance.',
    placeholder: 'GET /sync',
  },
  {
    name: 'formula.instance.time.to.live',
    title: 'Delete after',
    hint: 'Seconds until the service deletes the instance.',
    placeholder: '',
  },
] as const;

interface InstanceFormProps {
  readonly formula: Pick<Formula, 'id' | 'configuration'>;
  /** The stored instance. Undefined for a new one. */
  readonly before: FormulaInstance | undefined;
  readonly onSaved: (instance: FormulaInstance) => void;
  readonly onCancel?: () => void;
  readonly refusal?: string | undefined;
}

/** Shows the name, the values of the variables and the settings of a formula instance. */
export function InstanceForm({ formula, before, onSaved, onCancel, refusal }: InstanceFormProps) {
  const save = async (form: FormData) => {
    const isNew = before === undefined;
    const name = readText(form, 'name');
    const configuration = readValues(
      form,
      formula.configuration.map(({ key }) => key),
      'configuration',
      isNew,
    );
    const settings = readValues(
      form,
      SETTINGS.map((setting) => setting.name),
      'settings',
      isNew,
    );
    const body = { name, configuration, settings };
    const call = isNew
      ? api.POST('/formulas/{id}/instances', { params: { path: { id: formula.id } }, body })
      : api.PATCH('/formulas/{id}/instances/{instanceId}', {
          params: { path: { id: formula.id, instanceId: before.id } },
          body,
        });
    onSaved(await ask(call));
  };
  return (
    <Form
      action={before === undefined ? 'Create the instance' : 'Save'}
      onSubmit={save}
      refusal={refusal}
      {...(onCancel === undefined ? { done: 'Saved.' } : { onCancel })}
    >
      <Field label="Name" name="name" value={before?.name} required maxLength={255} autocomplete="off" />
      {formula.configuration.map((variable) => (
        <VariableValue key={variable.key} variable={variable} value={before?.configuration[variable.key]} />
      ))}
      <details open={before !== undefined && Object.keys(before.settings).length > 0}>
        <summary>Settings</summary>
        <div class="stack">
          {SETTINGS.map(({ name, title, hint, placeholder }) => (
            <Field
              key={name}
              label={title}
              name={`settings/${name}`}
              value={textOf(before?.settings[name])}
              hint={hint}
              placeholder={placeholder}
              autocomplete="off"
            />
          ))}
        </div>
      </details>
    </Form>
  );
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

/** Escapes a key as JSON pointers do, so that the service's faults appear at their fields. */
function nameOf(member: string, key: string): string {
  return `${member}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Reads the entered values. Null removes a stored value. */
function readValues(form: FormData, keys: readonly string[], member: string, isNew: boolean) {
  return Object.fromEntries(
    keys.flatMap((key): [string, string | null][] => {
      const text = readText(form, nameOf(member, key));
      return text === '' && isNew ? [] : [[key, text === '' ? null : text]];
    }),
  );
}

interface VariableValueProps {
  readonly variable: Variable;
  readonly value: string | undefined;
}

function VariableValue({ variable, value }: VariableValueProps) {
  const { key, name, type, description, required = false } = variable;
  const label = name ?? key;
  if (type === 'elementInstance') return <ElementInstance variable={variable} value={value} />;
  return (
    <Field
      label={label}
      name={nameOf('configuration', key)}
      value={value}
      required={required}
      hint={description}
      autocomplete="off"
    />
  );
}

function ElementInstance({ variable: { key, name, description, required = false }, value }: VariableValueProps) {
  const instances = useInstances();
  const list = instances.value ?? [];
  const isKnown = value === undefined || value === '' || list.some(({ id }) => String(id) === value);
  return (
    <label>
      {name ?? key}
      <select name={nameOf('configuration', key)} required={required}>
        <option value="">{instances.isLoading && list.length === 0 ? 'Loading…' : 'Choose an instance'}</option>
        {!isKnown && (
          <option value={value} selected>
            #{value}
          </option>
        )}
        {list.map(({ id, name: title, element }) => (
          <option key={id} value={String(id)} selected={String(id) === value}>
            {title} · {element.key} · #{id}
          </option>
        ))}
      </select>
      {description !== undefined && <span class="small soft">{description}</span>}
      <ErrorNote error={instances.error} retry={instances.reload} />
    </label>
  );
}
