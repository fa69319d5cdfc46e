import { useId, useMemo, useState } from 'preact/hooks';
import { ApiError, api, ask } from '../api.ts';
import { useAction } from '../load.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/show.tsx';
import { addStep, type LoadedFormula, saveStep, saveTrigger } from './calls.ts';
import { listCompletions, withNewStep } from './completion.ts';
import { findingsAt, type Messages, messagesOf, readFaults } from './findings.ts';
import { type Content, type NodeKey, type Predecessor, type Step, sayWay, TRIGGER_KEY, type Trigger } from './flow.ts';
import { NextSteps } from './next-steps.tsx';
import { type NodeForm, readNode, writeNode } from './node-form.ts';
import { PropertyInput } from './property-input.tsx';
import { infoOf, isStepType, isTriggerType, type PropertyField, STEP_TYPES, TRIGGER_TYPES } from './step-types.ts';
import type { Refused } from './use-formula-needs.ts';

/** The subject of the editor: the trigger, a step, or a new step. */
export type Edited =
  | { readonly kind: 'node'; readonly key: NodeKey }
  | { readonly kind: 'new'; readonly after: Predecessor | undefined };

interface NodeEditorProps {
  readonly loaded: LoadedFormula;
  readonly edited: Edited;
  readonly needs: Refused;
  readonly onChanged: () => void;
  readonly onAdd: (after: Predecessor) => void;
  readonly onClose: () => void;
}

const UNSAVED: Refused = { disabled: true, title: 'Save your changes first.' };

/** Shows the form of a step or of the trigger, beside the graph. */
export function NodeEditor({ loaded, edited, needs, onChanged, onAdd, onClose }: NodeEditorProps) {
  const { formula, content } = loaded;
  const isTrigger = edited.kind === 'node' && edited.key === TRIGGER_KEY;
  const key = edited.kind === 'node' ? edited.key : content.steps.length + 1;
  const before: Step | Trigger | undefined = isTrigger ? content.triggers[0] : content.steps[key - 1];
  const [start] = useState<NodeForm>(() => readNode(before, isTrigger));
  const [form, setForm] = useState(start);
  const [isLeaving, setLeaving] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const change = (changes: Partial<NodeForm>) => setForm((last) => ({ ...last, ...changes }));
  const after = edited.kind === 'new' ? edited.after : undefined;
  const seen = useMemo(() => (before === undefined && !isTrigger ? withNewStep(content, after) : content), [content]);
  const root = after === undefined ? '/body' : `/body/steps/${content.steps.length}`;
  const save = useAction(async () => {
    const body = writeNode(form, before, isTrigger);
    if (isTrigger) await saveTrigger(formula.id, content.triggers[0], body);
    else if (before === undefined) await addStep(formula.id, body, after);
    else await saveStep(formula.id, before.id, body);
    onChanged();
    onClose();
  });
  const messages =
    save.error instanceof ApiError ? readFaults(save.error, root) : messagesOf(findingsAt(loaded.findings, key));
  const title = before === undefined ? (isTrigger ? 'Add the trigger' : 'Add a step') : before.name;
  return (
    <Dialog title={title} isSide isKept={form !== start} onClose={form === start ? onClose : () => setLeaving(true)}>
      {after !== undefined && (
        <p class="soft">
          It follows {after.stepName ?? 'the trigger'}, {after.member === 'onSuccess' ? 'on success' : 'on failure'}.
        </p>
      )}
      {needs.title !== undefined && <p class="note">{needs.title}</p>}
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.run();
        }}
      >
        <fieldset class="plain stack" disabled={needs.disabled === true}>
          <General says={messages.get('') ?? []} />
          <Head form={form} isTrigger={isTrigger} messages={messages} onChange={change} />
          <PropertyList loaded={loaded} seen={seen} at={key} {...{ form, isTrigger, messages }} onChange={change} />
          <Following loaded={loaded} {...{ form, before, messages }} onChange={change} isTrigger={isTrigger} />
        </fieldset>
        <ErrorNote error={save.error} />
        <div class="row apart footing">
          <span class="row">
            {before !== undefined && (
              <button type="button" class="danger" onClick={() => setDeleting(true)} {...needs}>
                Delete…
              </button>
            )}
            {before !== undefined && (
              <AddAfter before={before} needs={form === start ? needs : UNSAVED} isTrigger={isTrigger} onAdd={onAdd} />
            )}
          </span>
          <button type="submit" class="main" {...(save.isRunning && { disabled: true })} {...needs}>
            {before === undefined ? title : 'Save'}
          </button>
        </div>
      </form>
      {isLeaving && (
        <Confirm
          title="Discard your changes?"
          action="Discard the changes"
          onConfirm={async () => onClose()}
          onClose={() => setLeaving(false)}
        >
          <p>They are not saved.</p>
        </Confirm>
      )}
      {isDeleting && before !== undefined && (
        <DeleteNode
          {...{ loaded, before, isTrigger }}
          onDeleted={() => {
            onChanged();
            onClose();
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </Dialog>
  );
}

function General({ says }: { readonly says: readonly string[] }) {
  if (says.length === 0) return null;
  return (
    <div class="note warn">
      {says.map((message) => (
        <p key={message}>{message}</p>
      ))}
    </div>
  );
}

interface PartProps {
  readonly form: NodeForm;
  readonly isTrigger: boolean;
  readonly messages: Messages;
  readonly onChange: (changes: Partial<NodeForm>) => void;
}

function Head({ form, isTrigger, messages, onChange }: PartProps) {
  const types = Object.entries(isTrigger ? TRIGGER_TYPES : STEP_TYPES);
  const choose = (type: string) => {
    if (isTrigger && isTriggerType(type)) onChange({ type });
    if (!isTrigger && isStepType(type)) onChange({ type });
  };
  return (
    <>
      {!isTrigger && (
        <TextInput
          label="Name"
          value={form.name}
          hint="Other steps refer to the values of this step by its name: ${steps.name}."
          messages={messages.get('name')}
          onChange={(name) => onChange({ name })}
        />
      )}
      <label>
        Type
        <select value={form.type} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {types.map(([type, { title }]) => (
            <option key={type} value={type}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <p class="small soft">{infoOf(form.type, isTrigger).does}</p>
      {!isTrigger && (
        <TextInput
          label="Description"
          value={form.description}
          messages={messages.get('description')}
          onChange={(description) => onChange({ description })}
        />
      )}
    </>
  );
}

interface TextInputProps {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly messages: readonly string[] | undefined;
  readonly onChange: (value: string) => void;
}

function TextInput({ label, value, hint, messages = [], onChange }: TextInputProps) {
  const id = useId();
  const isSaying = messages.length > 0 || hint !== undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={value}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={messages.length > 0}
        aria-describedby={isSaying ? `${id}-says` : undefined}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {isSaying && (
        <div id={`${id}-says`} class="small">
          {messages.map((message) => (
            <div key={message} class="fault">
              {message}
            </div>
          ))}
          {hint !== undefined && <div class="soft">{hint}</div>}
        </div>
      )}
    </div>
  );
}

interface PropertyListProps extends PartProps {
  readonly loaded: LoadedFormula;
  /** The formula with the edited step in it, for completions. */
  readonly seen: Content;
  readonly at: NodeKey;
}

function PropertyList({
  loaded: { formula, content },
  seen,
  at,
  form,
  isTrigger,
  messages,
  onChange,
}: PropertyListProps) {
  const { fields } = infoOf(form.type, isTrigger);
  const completions = useMemo(() => listCompletions(seen, at, false), [seen, at]);
  const codeCompletions = useMemo(() => listCompletions(seen, at, true), [seen, at]);
  const isShown = ({ name, isRare }: PropertyField) =>
    isRare !== true || (form.texts[name] ?? '') !== '' || messages.has(`properties.${name}`);
  const [first] = useState(() => new Set(fields.filter(isShown).map(({ name }) => name)));
  const rare = fields.filter((field) => field.isRare === true && !first.has(field.name));
  const input = (field: PropertyField) => (
    <PropertyInput
      key={field.name}
      {...{ field, completions, codeCompletions }}
      value={form.texts[field.name] ?? ''}
      onChange={(value) => onChange({ texts: { ...form.texts, [field.name]: value } })}
      messages={messages.get(`properties.${field.name}`) ?? []}
      variables={content.configuration}
      formulaId={formula.id}
    />
  );
  return (
    <>
      {fields.filter((field) => !rare.includes(field)).map(input)}
      {rare.length > 0 && (
        <details>
          <summary>More properties</summary>
          <div class="stack">{rare.map(input)}</div>
        </details>
      )}
    </>
  );
}

interface FollowingProps extends PartProps {
  readonly loaded: LoadedFormula;
  readonly before: Step | Trigger | undefined;
}

function Following({ loaded: { content }, before, form, isTrigger, messages, onChange }: FollowingProps) {
  const all = content.steps
    .map(({ name }) => name)
    .filter((name) => isTrigger || name !== before?.name || form.type === 'loop');
  return (
    <>
      <NextSteps
        label={`Steps on ${sayWay(form.type, 'success') || 'success'}`}
        names={form.onSuccess}
        all={all}
        onChange={(onSuccess) => onChange({ onSuccess })}
        messages={messages.get('onSuccess') ?? []}
      />
      {!isTrigger && (
        <NextSteps
          label={`Steps on ${sayWay(form.type, 'failure')}`}
          names={form.onFailure}
          all={all}
          onChange={(onFailure) => onChange({ onFailure })}
          messages={messages.get('onFailure') ?? []}
        />
      )}
    </>
  );
}

interface AddAfterProps {
  readonly before: Step | Trigger;
  readonly needs: Refused;
  readonly isTrigger: boolean;
  readonly onAdd: (after: Predecessor) => void;
}

function AddAfter({ before, needs, isTrigger, onAdd }: AddAfterProps) {
  const stepName = isTrigger ? undefined : before.name;
  return (
    <>
      <button type="button" onClick={() => onAdd({ stepName, member: 'onSuccess' })} {...needs}>
        Add a step after it
      </button>
      {!isTrigger && (
        <button type="button" onClick={() => onAdd({ stepName, member: 'onFailure' })} {...needs}>
          Add a step on {sayWay(before.type, 'failure')}
        </button>
      )}
    </>
  );
}

interface DeleteNodeProps {
  readonly loaded: LoadedFormula;
  readonly before: Step | Trigger;
  readonly isTrigger: boolean;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

function DeleteNode({ loaded, before, isTrigger, onDeleted, onClose }: DeleteNodeProps) {
  const { id } = loaded.formula;
  const remove = async () => {
    if (isTrigger) {
      const path = { id, triggerId: before.id };
      await ask(api.DELETE('/formulas/{id}/triggers/{triggerId}', { params: { path } }));
    } else {
      await ask(api.DELETE('/formulas/{id}/steps/{stepId}', { params: { path: { id, stepId: before.id } } }));
    }
    onDeleted();
  };
  return (
    <Confirm
      title={`Delete ${before.name}?`}
      action={isTrigger ? 'Delete the trigger' : 'Delete the step'}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{isTrigger ? 'Nothing starts the formula any more.' : 'The steps before it no longer lead to it.'}</p>
    </Confirm>
  );
}
