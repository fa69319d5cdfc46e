import { useId, useMemo, useState } from 'preact/hooks';
import type { Instance } from '../api.ts';
import { ApiError } from '../api.ts';
import { useMetadata } from '../explore/metadata.ts';
import { useSettled } from '../explore/settled.ts';
import { useAction } from '../load.ts';
import { InstanceChoice } from '../parts/instance-choice.tsx';
import { ErrorNote } from '../parts/show.tsx';
import { saveTransformation } from './calls.ts';
import { type FormFaults, NO_FAULTS, readFaults } from './faults.ts';
import { useLevelNeeds } from './levels.ts';
import { MappedFields } from './mapped-fields.tsx';
import type { Target } from './paths.ts';
import { ScriptEditor } from './script-editor.tsx';
import { mappedTypeOf, nameFor, suggestPairs, type VendorField } from './suggestions.ts';
import {
  type FieldForm,
  type Flag,
  isMapped,
  type TransformationForm,
  unmappedField,
  writeForm,
} from './transformation-form.ts';
import { isReachable, useExamples, useInstanceObjects } from './vendor.ts';
import { type ShownVendorField, vendorFieldsOf } from './vendor-fields.ts';
import { VendorFields } from './vendor-list.tsx';

interface TransformationEditorProps {
  readonly objectName: string;
  readonly target: Target;
  readonly before: TransformationForm;
  /** The instances of the element. */
  readonly instances: readonly Instance[];
  /** The instance whose fields and records are shown. */
  readonly instanceId: number | undefined;
  readonly onInstance: (id: string | undefined) => void;
  /** The message that the service returned for the last save. */
  readonly saved: string | undefined;
  readonly onSaved: (words: string) => void;
}

/** Milliseconds after the last key, after which the fields of the object are requested. */
const TYPING_PAUSE_MS = 300;

const FLAGS: readonly (readonly [flag: Flag, title: string])[] = [
  ['passFromVendor', 'Responses also have the provider’s fields that are not mapped'],
  ['passToVendor', 'Requests may also have the provider’s fields that are not mapped'],
  ['addToDocumentation', 'addToDocumentation: stored for files of other systems; it has no effect here'],
];
const INHERIT = ['inherit', 'Inherit the fields that a higher level maps'] as const;

/** Shows the provider's fields beside ours, with the conversion of each. */
export function TransformationEditor(props: TransformationEditorProps) {
  const { objectName, target, before, instances, instanceId, onInstance, saved, onSaved } = props;
  const list = useId();
  const needs = useLevelNeeds();
  const [start] = useState(before);
  const [form, setForm] = useState(start);
  const [faults, setFaults] = useState<FormFaults>(NO_FAULTS);
  const [chosen, setChosen] = useState<string>();
  const [suggested, setSuggested] = useState<string>();
  const vendorName = useSettled(form.vendorName.trim(), TYPING_PAUSE_MS);
  const objects = useInstanceObjects(instanceId);
  const names = objects.value?.names ?? [];
  const vendor = useVendorFields(instanceId, names.includes(vendorName) ? vendorName : '', objects.value);
  const change = (changes: Partial<TransformationForm>) => setForm((last) => ({ ...last, ...changes }));
  const changeField = (path: string, changes: Partial<FieldForm>) =>
    setForm((last) => ({
      ...last,
      fields: last.fields.map((field) => (field.path === path ? { ...field, ...changes } : field)),
    }));
  const add = (path: string, type: FieldForm['type'], from?: VendorField) =>
    setForm((last) => {
      const name = freeName(path, last.fields);
      const field = unmappedField({ path: name, type }, undefined);
      const vendorPart = from === undefined ? {} : { vendorPath: from.path, vendorType: from.type };
      return { ...last, fields: [...last.fields, { ...field, ...vendorPart }] };
    });
  const suggest = () => {
    const open = form.fields.filter((field) => !isMapped(field));
    const taken = new Set(form.fields.map(({ vendorPath }) => vendorPath));
    const pairs = suggestPairs(
      open,
      vendor.fields.filter(({ path }) => !taken.has(path)),
    );
    change({
      fields: form.fields.map((field) => {
        const found = isMapped(field) ? undefined : pairs.get(field.path);
        return found === undefined ? field : { ...field, vendorPath: found.path, vendorType: found.type };
      }),
    });
    setSuggested(`${pairs.size} of ${open.length} fields without a mapping got one. Check them before you save.`);
  };
  const save = useAction(async () => {
    const { body, mappedFields } = writeForm(form);
    setFaults(NO_FAULTS);
    try {
      const ignored = await saveTransformation(objectName, target, body);
      onSaved(ignored ?? 'Saved.');
    } catch (error) {
      setFaults(readFaults(error instanceof ApiError ? error : {}, mappedFields, form.script));
      throw error;
    }
  });
  const flags = target.level === 'organization' ? FLAGS : [INHERIT, ...FLAGS];
  const isUnknown = names.length > 0 && vendorName !== '' && !names.includes(vendorName);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        save.run();
      }}
    >
      <div class="filters">
        {target.level !== 'instance' && (
          <InstanceChoice
            instances={{ value: instances, isLoading: false, error: undefined, reload: objects.reload }}
            value={instanceId?.toString()}
            onChange={onInstance}
            none={instances.length === 0 ? 'No instance of the element' : 'Choose an instance'}
          />
        )}
        <label>
          Object of the provider
          <input
            list={list}
            required
            maxLength={255}
            autocomplete="off"
            spellcheck={false}
            placeholder="contacts"
            aria-invalid={faults.vendorName !== undefined || isUnknown}
            value={form.vendorName}
            onInput={({ currentTarget }) => change({ vendorName: currentTarget.value })}
          />
        </label>
        <datalist id={list}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <div>
          <button type="button" disabled={vendor.fields.length === 0} onClick={suggest}>
            Suggest fields
          </button>
        </div>
      </div>
      {(faults.vendorName !== undefined || isUnknown) && (
        <p class="fault small">{faults.vendorName ?? `The instance has no object '${vendorName}' with a list.`}</p>
      )}
      <p class="small soft" role="status">
        {suggested}
      </p>
      <ErrorNote error={objects.error ?? vendor.error} retry={objects.reload} />
      <div class="mapper">
        <VendorFields
          fields={vendor.fields}
          isLoading={vendor.isLoading}
          note={vendorNote(instanceId, vendor.isHidden, vendorName)}
          mapped={form.fields}
          chosen={chosen}
          onUse={(field) =>
            chosen !== undefined &&
            changeField(chosen, {
              source: 'path',
              vendorPath: field.path,
              vendorType: field.type,
              inheritedFrom: undefined,
            })
          }
          onAdd={(field) => add(nameFor(field.path), mappedTypeOf(field), field)}
        />
        <MappedFields
          fields={form.fields}
          vendor={vendor.fields}
          faults={faults.byField}
          chosen={chosen}
          onChoose={setChosen}
          onChange={changeField}
          onAdd={add}
          onRemove={(path) => change({ fields: form.fields.filter((field) => field.path !== path) })}
        />
      </div>
      <section class="card stack tight" aria-labelledby={`${list}-passed`}>
        <h2 id={`${list}-passed`}>Beyond the mapped fields</h2>
        {flags.map(([flag, title]) => (
          <label key={flag} class="inline">
            <input
              type="checkbox"
              checked={form.flags.has(flag)}
              onChange={({ currentTarget }) => change({ flags: withFlag(form.flags, flag, currentTarget.checked) })}
            />
            {title}
          </label>
        ))}
      </section>
      <ScriptEditor
        form={form}
        fault={faults.script}
        onChange={change}
        onFlag={(flag, isOn) => change({ flags: withFlag(form.flags, flag, isOn) })}
      />
      <ErrorNote error={save.error} />
      <div class="row end footing">
        <span class="soft" role="status">
          {form === start ? saved : 'You have changes that are not saved.'}
        </span>
        <button type="submit" class="main" {...disabledBy(save.isRunning)} {...needs(target.level, 'edit')}>
          Save the transformation
        </button>
      </div>
    </form>
  );
}

function disabledBy(isRunning: boolean): { readonly disabled?: true } {
  return isRunning ? { disabled: true } : {};
}

function withFlag(flags: ReadonlySet<Flag>, flag: Flag, isOn: boolean): ReadonlySet<Flag> {
  return new Set(isOn ? [...flags, flag] : [...flags].filter((each) => each !== flag));
}

/** Returns a name for a path of the provider that no field has yet. */
function freeName(path: string, fields: readonly FieldForm[]): string {
  const taken = new Set(fields.map((field) => field.path));
  const names = [path, ...Array.from(fields, (_, index) => `${path}${index + 2}`)];
  return names.find((name) => !taken.has(name)) ?? path;
}

/** Returns the fields of the provider's object on an instance. Each has an example if records can be read. */
function useVendorFields(
  instanceId: number | undefined,
  vendorName: string,
  objects: ReturnType<typeof useInstanceObjects>['value'],
) {
  const isHidden = objects !== undefined && vendorName !== '' && !isReachable(objects, vendorName);
  const metadata = useMetadata(instanceId ?? 0, instanceId === undefined ? '' : vendorName);
  const examples = useExamples({ instanceId, objectName: isHidden ? '' : vendorName });
  const [example] = examples.value ?? [];
  const fields = useMemo<readonly ShownVendorField[]>(
    () => (metadata.value === undefined ? [] : vendorFieldsOf(metadata.value, isHidden ? undefined : example)),
    [metadata.value, example, isHidden],
  );
  return { fields, isHidden, isLoading: metadata.isLoading && vendorName !== '', error: metadata.error };
}

function vendorNote(instanceId: number | undefined, isHidden: boolean, vendorName: string): string | undefined {
  if (instanceId === undefined)
    return 'Connect an instance of the element to see its fields. Until then, write the paths yourself.';
  if (isHidden)
    return `On this instance, ${vendorName} is mapped under its own name. Only fields that are mapped or passed through are listed. You can write other paths yourself.`;
  return vendorName === '' ? 'Choose an object of the provider to see its fields.' : undefined;
}
