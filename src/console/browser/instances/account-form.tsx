import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, type Schemas } from '../api.ts';
import { useAction } from '../load.ts';
import { ErrorNote } from '../parts/show.tsx';
import { useAuthorization, type Waiting } from './authorization.ts';
import { FieldRow } from './field.tsx';
import { type Field, type FieldGroups, faultOf, groupFields, hasTokens, type Values } from './form-values.ts';
import { faultsOf, type Given, type LogIn, logInOf } from './grant.ts';
import { LogInFields } from './log-in-fields.tsx';

interface AccountFormProps {
  readonly element: Schemas['ElementDetail'];
  readonly fields: readonly Field[];
  readonly before: Given;
  /** What the button says. */
  readonly action: string;
  /** Where it can be saved without a new login, too: what the button for one says. */
  readonly logInAction?: string;
  /** With what came from the provider, where somebody logged in there. */
  readonly onSave: (given: Given, logIn: LogIn | undefined) => Promise<void>;
  /** Beside the button. */
  readonly children?: ComponentChildren;
}

/** The settings of an instance, new or as they are. */
export function AccountForm({ element, fields, before, action, logInAction, onSave, children }: AccountFormProps) {
  const [given, setGiven] = useState(before);
  const [isTried, setTried] = useState(false);
  const [edited, setEdited] = useState<readonly string[]>([]);
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
        {...(waiting === undefined && !isRunning && error !== undefined && { retry: () => submit(mayLogIn) })}
      />
      {waiting !== undefined && <WaitingNote name={element.name} waiting={waiting} />}
      <footer class="row">
        <button type="submit" class="main" disabled={isRunning}>
          {action}
        </button>
        {mayLogIn && logInAction !== undefined && (
          <button type="button" disabled={isRunning} onClick={() => submit(true)}>
            {logInAction}
          </button>
        )}
        {children}
      </footer>
    </form>
  );
}

/** What is folded may be wrong as well. */
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

function SimulatorSwitch({ element, given, onChange }: PartProps & { readonly element: Schemas['ElementDetail'] }) {
  const fill = (isSimulated: boolean) =>
    onChange((last) => ({ ...last, isSimulated, values: { ...last.values, ...demoValues(element, isSimulated) } }));
  return (
    <div class={given.isSimulated ? 'note good' : 'note'}>
      <label class="inline strong">
        <input
          type="checkbox"
          checked={given.isSimulated}
          onChange={({ currentTarget }) => fill(currentTarget.checked)}
        />
        Use the simulator
      </label>
      <span class="small">
        {given.isSimulated
          ? `Calls go to a ${element.name} that runs on this service, with records to try things on. The fields are filled in.`
          : `No account at ${element.name}? This service runs one to try things on; what it needs is filled in.`}
      </span>
    </div>
  );
}

/** What the simulator needs; emptied when it is not wanted any more. */
function demoValues({ simulator }: Schemas['ElementDetail'], isSimulated: boolean): Values {
  const { simulator: _, ...demo } = simulator?.configuration ?? {};
  return Object.fromEntries(
    Object.entries(demo).map(([key, value]) => [
      key,
      typeof value === 'boolean' ? isSimulated && value : isSimulated ? String(value) : '',
    ]),
  );
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
            This is needed.
          </span>
        )}
      </div>
      <label>
        <span>
          Tags <span class="soft small">optional, with commas between them</span>
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

const WAITING: Readonly<Record<Waiting['window'], (name: string) => string>> = {
  open: (name) => `Log in at ${name} in the window that has opened, and allow the access. This page goes on by itself.`,
  closed: (name) => `The window of ${name} was closed, or cannot be seen from here. Nothing is connected yet.`,
  blocked: (name) => `The browser blocked the window of ${name}. Allow pop-up windows for this page, or open it here.`,
};

function WaitingNote({
  name,
  waiting: { window, reopen, cancel },
}: {
  readonly name: string;
  readonly waiting: Waiting;
}) {
  return (
    <div class={window === 'open' ? 'note' : 'note warn'} role="status">
      <p>{WAITING[window](name)}</p>
      <p class="row">
        {window !== 'open' && (
          <button type="button" class="plain" onClick={reopen}>
            {window === 'closed' ? 'Try again' : 'Open the window'}
          </button>
        )}
        <button type="button" class="plain" onClick={cancel}>
          Cancel
        </button>
      </p>
    </div>
  );
}
