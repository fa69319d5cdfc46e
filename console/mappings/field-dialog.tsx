import { useState } from 'preact/hooks';
import { ApiError, type Schemas } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { InstanceChoice, useInstances } from '../parts/instance-choice.tsx';
import { type AssociatedField, changeFields, ownerOf } from './calls.ts';
import { type Owner, useLevelNeeds } from './levels.ts';
import { sayLevel } from './paths.ts';
import { LEVELS, type Level } from './transformation-form.ts';
import { MAPPED_TYPES } from './values.ts';

interface FieldDialogProps {
  readonly objectName: string;
  /** The stored field. Undefined for a new one. */
  readonly before: AssociatedField | undefined;
  /** The owners that have the definition. */
  readonly owners: readonly Owner[];
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

type FieldBody = Schemas['DefinitionFieldBody'];

/** Adds a field at a level, or changes one. */
export function FieldDialog({ objectName, before, owners, onSaved, onClose }: FieldDialogProps) {
  const needs = useLevelNeeds();
  const [owner, setOwner] = useState<Owner | undefined>(
    before === undefined ? owners.find(({ level }) => needs(level, 'edit').disabled !== true) : ownerOf(before),
  );
  const save = async (form: FormData) => {
    if (owner === undefined) return;
    const displayName = readText(form, 'displayName');
    const type = readText(form, 'type');
    const field: FieldBody = { path: readText(form, 'path'), type, ...(displayName !== '' && { displayName }) };
    const at = { index: 0 };
    try {
      await changeFields(objectName, owner, (all) => {
        const { fields, index } = withField(all, field, before?.path);
        at.index = index;
        return fields;
      });
    } catch (error) {
      throw pointToControls(error, at.index);
    }
    onSaved();
    onClose();
  };
  return (
    <Dialog title={before === undefined ? 'Add a field' : `Change ${before.path}`} onClose={onClose}>
      <Form
        action={before === undefined ? 'Add the field' : 'Save'}
        onSubmit={save}
        onCancel={onClose}
        refusal={owner === undefined ? 'Choose the level of the field first.' : undefined}
      >
        <Field
          label="Path"
          name="path"
          value={before?.path}
          required
          maxLength={255}
          autocomplete="off"
          placeholder="address.city"
          hint="Dots nest, and [*] stands for the items of an array: users[*].name."
        />
        <label>
          Type
          <select name="type" defaultValue={before?.type ?? 'string'}>
            {MAPPED_TYPES.map((type) => (
              <option key={type} selected={type === (before?.type ?? 'string')}>
                {type}
              </option>
            ))}
          </select>
        </label>
        <Field
          label="Name for people"
          name="displayName"
          value={before?.displayName}
          maxLength={255}
          autocomplete="off"
        />
        {before === undefined ? (
          <OwnerChoice owner={owner} onChange={setOwner} />
        ) : (
          <p class="small soft">The level is {sayLevel(before.associatedLevel, before.associatedId)}.</p>
        )}
      </Form>
    </Dialog>
  );
}

/** Returns the fields with the one at this path replaced, or with the new one at the end. */
function withField(all: readonly FieldBody[], field: FieldBody, before: string | undefined) {
  const found = all.findIndex(({ path }) => path === before);
  const index = found < 0 ? all.length : found;
  return { fields: [...all.slice(0, index), field, ...all.slice(index + 1)], index };
}

/** Changes the pointers of an error, which name the field by its index in the list. The form only has the controls of this field. */
function pointToControls(error: unknown, index: number): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, code, message, requestId } = error;
  if (code === 'NETWORK' || code === 'UNKNOWN') return error;
  const details = error.details.map((detail) => ({
    ...detail,
    path: detail.path?.replace(`/body/fields/${index}/`, '/body/') ?? '',
  }));
  return new ApiError(status, { code, message, details, ...(requestId !== undefined && { requestId }) });
}

interface OwnerChoiceProps {
  readonly owner: Owner | undefined;
  readonly onChange: (owner: Owner | undefined) => void;
}

function OwnerChoice({ owner, onChange }: OwnerChoiceProps) {
  const needs = useLevelNeeds();
  const instances = useInstances();
  const [level, setLevel] = useState<Level | undefined>(owner?.level);
  const choose = (text: string) => {
    const chosen = LEVELS.find((each) => each === text);
    setLevel(chosen);
    onChange(chosen === undefined || chosen === 'instance' ? undefined : { level: chosen });
  };
  return (
    <>
      <label>
        Level
        <select value={level ?? ''} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {level === undefined && <option value="">Choose a level</option>}
          {LEVELS.map((each) => (
            <option key={each} value={each} disabled={needs(each, 'edit').disabled}>
              {each}
            </option>
          ))}
        </select>
      </label>
      {level === 'instance' && (
        <InstanceChoice
          instances={instances}
          value={owner?.level === 'instance' ? String(owner.instanceId) : undefined}
          onChange={(id) => onChange(id === undefined ? undefined : { level: 'instance', instanceId: Number(id) })}
          none="Choose an instance"
        />
      )}
    </>
  );
}
