import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, type Schemas } from '../api.ts';
import { useAction } from '../load.ts';
import { ErrorNote } from '../parts/show.tsx';
import { useNeeds } from '../who.ts';
import { useAuthorization } from './authorization.ts';
import { FieldRow } from './field.tsx';
import { type Field, type FieldGroups, faultOf, groupFields, hasTokens, type Values } from './form-values.ts';
import { faultsOf, type Given, type Grant, logInOf } from './grant.ts';
import { LogInFields } from './log-in-fields.tsx';
import { SimulatorSwitch } from './simulator-switch.tsx';
import { WaitingNote } from './waiting-note.tsx';

interface AccountFormProps {
  readonly element: Schemas['ElementDetail'];
  readonly fields: readonly Field[];
  readonly before: Given;
  /** The label of the button that saves. */
  readonly action: string;
  /**
   * The label of a second button that saves after a new log-in at the provider. Undefined where the form cannot be saved without a log-in.
   */
  readonly logInAction?: string;
  /** Saves the entered values and, if the user logged in at the provider, the grant. */
  readonly onSave: (given: Given, logIn: Grant | undefined) => Promise<void>;
  /** Further controls beside the button. */
  readonly children?: ComponentChildren;
}

/** Shows the settings of an instance, for a new one or to change them. */
export function AccountForm({ element, fields, before, action, logInAction, onSave, children }: AccountFormProps) {
  const needs = useNeeds();
  const [given, setGiven] = useState(before);
  const [isTried, setTried] = useState(false);
  const [edited, setEdited] = useState<readonly string[]>([]);
  const lastLoggedIn = useRef(false);
  const form = useRef<HTMLFormElement>(null);
  const { waiting, authorize } = useAuthorization();
  const { run, isRunning, error } = useAction(async (logsIn: boolean) => {
    setEdited([]);
    await onSave(given, logsIn ? await logInOf(element, given, authorize) : undefined);
  });
  const groups = groupFields(fields, given.proxy !== undefined);
  const isOAuth = element.authentication.type === 'oauth2';
  const submit = (logsIn: boolean) => {
    setTried(true);
    lastLoggedIn.current = logsIn;
    const isWrong = [...groups.needed, ...groups.more, ...groups.events].some(
      (field) => faultOf(field, given.values[field.key] ?? '') !== undefined,
    );
    if (isWrong || given.name.trim() === '') return showFirstFault(form.current);
    return run(logsIn);
  };
  const faults = error instanceof ApiError ? faultsOf(error, element) : {};
  const rows = {
    values: given.values,
    isTried,
    faults: Object.fromEntries(Object.entries(faults).filter(([key]) => !edited.includes(key))),
    onChange: (key: string, value: string | boolean) => {
      setEdited((last) => [...last, key]);
      setGiven((last) => ({ ...last, values: { ...last.values, [key]: value } }));
    },
  };
  const mayLogIn = isOAuth && (logInAction !== undefined || !hasTokens(given.values));
  return (
    <form
      ref={form}
      class="stack form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit(mayLogIn && logInAction === undefined);
      }}
    >
      {element.simulator !== undefined && <SimulatorSwitch element={element} given={given} onChange={setGiven} />}
      <NameFields given={given} isTried={isTried} onChange={setGiven} />
      {isOAuth && <LogInFields given={given} onChange={setGiven} />}
      <Groups groups={groups} {...rows} />
      <ErrorNote
        error={error}
        {...(waiting === undefined &&
          !isRunning &&
          error !== undefined && { retry: () => submit(lastLoggedIn.current) })}
      />
      {waiting !== undefined && <WaitingNote name={element.name} waiting={waiting} />}
      <footer class="row">
        <button type="submit" class="main" disabled={isRunning} {...needs('createElementInstances')}>
          {action}
        </button>
        {mayLogIn && logInAction !== undefined && (
          <button type="button" disabled={isRunning} onClick={() => submit(true)} {...needs('createElementInstances')}>
            {logInAction}
          </button>
        )}
        {children}
      </footer>
    </form>
  );
}

/** Opens the folded section of a faulty field and moves the focus to the field. */
function showFirstFault(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => {
    const first = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
    first?.closest('details')?.setAttribute('open', '');
    first?.focus();
  });
}

interface PartProps {
  readonly given: Given;
  readonly onChange: (change: (last: Given) => Given) => void;
}

function NameFields({ given, isTried, onChange }: PartProps & { readonly isTried: boolean }) {
  const isMissing = isTried && given.name.trim() === '';
  return (
    <>
      <div class="field">
        <label>
          Name
          <input
            value={given.name}
            maxLength={255}
            required
            aria-invalid={isMissing}
            onInput={({ currentTarget: { value } }) => onChange((last) => ({ ...last, name: value }))}
          />
        </label>
        {isMissing && (
          <span class="fault small" role="alert">
            Fill in this field.
          </span>
        )}
      </div>
      <label>
        <span>
          Tags <span class="soft small">optional, separated by commas</span>
        </span>
        <input
          value={given.tags}
          autocomplete="off"
          placeholder="shop, emea"
          onInput={({ currentTarget: { value } }) => onChange((last) => ({ ...last, tags: value }))}
        />
      </label>
    </>
  );
}

interface GroupsProps {
  readonly groups: FieldGroups;
  readonly values: Values;
  readonly isTried: boolean;
  readonly faults: Readonly<Record<string, string>>;
  readonly onChange: (key: string, value: string | boolean) => void;
}

function Groups({ groups: { needed, more, events }, ...rows }: GroupsProps) {
  return (
    <>
      <Fields fields={needed} {...rows} />
      <Folded title="More settings" fields={more} {...rows} />
      <Folded title="Events" fields={events} {...rows} />
    </>
  );
}

function Folded({
  title,
  fields,
  ...rows
}: Omit<GroupsProps, 'groups'> & { readonly title: string; readonly fields: readonly Field[] }) {
  const [isOpen, setOpen] = useState(false);
  const isFaulty = fields.some(({ key }) => rows.faults[key] !== undefined);
  useEffect(() => {
    if (isFaulty) setOpen(true);
  }, [isFaulty]);
  if (fields.length === 0) return null;
  return (
    <details class="card" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="strong">{title}</summary>
      <div class="stack folded">
        <Fields fields={fields} {...rows} />
      </div>
    </details>
  );
}

function Fields({
  fields,
  values,
  isTried,
  faults,
  onChange,
}: Omit<GroupsProps, 'groups'> & { readonly fields: readonly Field[] }) {
  return (
    <>
      {fields.map((field) => (
        <FieldRow
          key={field.key}
          field={field}
          value={values[field.key] ?? ''}
          fault={faults[field.key]}
          isTried={isTried}
          onChange={(value) => onChange(field.key, value)}
        />
      ))}
    </>
  );
}
