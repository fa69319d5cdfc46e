import { type ComponentChildren, createContext, h, type LooseInputHTMLAttributes } from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api.ts';
import { useAction } from '../load.ts';
import { ErrorNote } from './show.tsx';

interface FormProps {
  /** The label of the button. */
  readonly action: string;
  readonly onSubmit: (form: FormData) => Promise<void>;
  readonly onCancel?: () => void;
  /** Text that is shown after the form was sent. Without it, the owner of the form closes it. */
  readonly done?: string;
  /** The reason why the form cannot be sent. It disables the button. */
  readonly refusal?: string | undefined;
  readonly children: ComponentChildren;
}

/** The error of the last submission, from which each field takes its own faults. */
const Faults = createContext<unknown>(undefined);

/** Shows fields, the error of the last submission, and the button. A long form scrolls to the error. */
export function Form({ action, onSubmit, onCancel, done, refusal, children }: FormProps) {
  const [isDone, setDone] = useState(false);
  const { run, isRunning, error } = useAction(async (form: FormData) => {
    setDone(false);
    await onSubmit(form);
    setDone(true);
  });
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => note.current?.scrollIntoView({ block: 'nearest' }), [error]);
  return (
    <form
      class="stack"
      onInput={() => setDone(false)}
      onSubmit={(event) => {
        event.preventDefault();
        run(new FormData(event.currentTarget));
      }}
    >
      <Faults.Provider value={error}>{children}</Faults.Provider>
      {error !== undefined && (
        <div ref={note}>
          <ErrorNote error={error} />
        </div>
      )}
      <div class="row end">
        {done !== undefined && (
          <span class="soft" role="status">
            {isDone && done}
          </span>
        )}
        {onCancel !== undefined && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button type="submit" class="main" disabled={isRunning || refusal !== undefined} title={refusal}>
          {action}
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  /** Name of the member in the body that is sent. The service's faults of this member are shown below the field. */
  readonly name: string;
  readonly hint?: ComponentChildren;
  readonly value?: string | undefined;
  readonly type?: 'text' | 'email' | 'password' | 'url' | 'number' | 'datetime-local';
  readonly autocomplete?: string;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly title?: string | undefined;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
  readonly placeholder?: string;
}

/** A labelled text field. */
export function Field({ label, hint, value, name, ...input }: FieldProps) {
  const id = useId();
  const fault = faultOf(useContext(Faults), name);
  const attributes: LooseInputHTMLAttributes = {
    ...input,
    id,
    name,
    defaultValue: value,
    'aria-invalid': fault !== undefined,
    'aria-describedby': hint === undefined && fault === undefined ? undefined : `${id}-says`,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {h('input', attributes)}
      {(fault !== undefined || hint !== undefined) && (
        <div id={`${id}-says`} class="small">
          {fault !== undefined && <div class="fault">{fault}</div>}
          {hint !== undefined && <div class="soft">{hint}</div>}
        </div>
      )}
    </div>
  );
}

/** Returns the fault that the service found in a member of the body. */
function faultOf(error: unknown, name: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.details.find(({ path }) => path === `/body/${name}`)?.message;
}

/** Returns the text of a field without blanks at its ends. */
export function readText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
