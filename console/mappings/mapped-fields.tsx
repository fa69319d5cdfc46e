import { useId, useState } from 'preact/hooks';
import { Badge } from '../parts/badge.tsx';
import { Conversions, sayConversions } from './conversions.tsx';
import { rankFields } from './suggestions.ts';
import { type FieldForm, isMapped } from './transformation-form.ts';
import { MAPPED_TYPES, type MappedType } from './values.ts';
import type { ShownVendorField } from './vendor-fields.ts';

interface MappedFieldsProps {
  readonly fields: readonly FieldForm[];
  readonly vendor: readonly ShownVendorField[];
  /** The faults that the service found, by the paths of fields. */
  readonly faults: ReadonlyMap<string, readonly string[]>;
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
  readonly onChange: (path: string, changes: Partial<FieldForm>) => void;
  readonly onAdd: (path: string, type: MappedType) => void;
  readonly onRemove: (path: string) => void;
}

/** Lists our fields, each with the path of the provider and its conversion. */
export function MappedFields({ fields, faults, chosen, onAdd, ...others }: MappedFieldsProps) {
  const count = fields.filter(isMapped).length;
  return (
    <section class="card stack tight" aria-label="Your fields">
      <div class="row apart">
        <h2>Your fields</h2>
        <span class="soft small" role="status">
          {count} of {fields.length} mapped
        </span>
      </div>
      {fields.length === 0 && (
        <p class="soft">The definition has no fields yet. Add them here: a saved field is added to the definition.</p>
      )}
      <ul class="mapped-fields">
        {fields.map((field) => (
          <MappedField
            key={field.path}
            field={field}
            faults={faults.get(field.path) ?? []}
            isChosen={field.path === chosen}
            {...others}
          />
        ))}
      </ul>
      <NewField onAdd={onAdd} isTaken={(path) => fields.some((field) => field.path === path)} />
    </section>
  );
}

interface MappedFieldProps extends Pick<MappedFieldsProps, 'vendor' | 'onChoose' | 'onChange' | 'onRemove'> {
  readonly field: FieldForm;
  readonly faults: readonly string[];
  readonly isChosen: boolean;
}

/** Maximum number of options in the list of an input. The best ones come first. */
const MOST_OPTIONS = 40;

function MappedField({ field, faults, isChosen, vendor, onChoose, onChange, onRemove }: MappedFieldProps) {
  const id = useId();
  const { path, type, displayName, inheritedFrom, source, vendorPath, definedAs } = field;
  const change = (changes: Partial<FieldForm>) => onChange(path, changes);
  const conversions = sayConversions(field);
  const write = (text: string) => {
    const known = vendor.find((each) => each.path === text);
    change({ vendorPath: text, vendorType: known?.type });
  };
  return (
    <li class={isChosen ? 'chosen' : undefined} onFocusCapture={() => onChoose(path)}>
      <label for={`${id}-path`} class="lines">
        <code class="strong break">{path}</code>
        <span class="small soft break">{[type, displayName].filter(Boolean).join(' · ')}</span>
      </label>
      {inheritedFrom === undefined ? (
        <input
          id={`${id}-path`}
          class="mono"
          aria-label={`Path of the provider for ${path}`}
          aria-invalid={faults.length > 0}
          aria-describedby={faults.length > 0 ? `${id}-faults` : undefined}
          list={`${id}-list`}
          autocomplete="off"
          spellcheck={false}
          maxLength={255}
          disabled={source !== 'path'}
          placeholder={source === 'path' ? 'not mapped' : `made by ${source}`}
          value={source === 'path' ? vendorPath : ''}
          onInput={({ currentTarget }) => write(currentTarget.value.trim())}
        />
      ) : (
        <span class="row" id={`${id}-path`}>
          <code class="break">{vendorPath === '' ? source : vendorPath}</code>{' '}
          <Badge tone="quiet">from {inheritedFrom}</Badge>
          <button
            type="button"
            class="plain"
            aria-label={`Override ${path}`}
            onClick={() => change({ inheritedFrom: undefined })}
          >
            Override
          </button>
        </span>
      )}
      <datalist id={`${id}-list`}>
        {isChosen &&
          rankFields(field, vendor)
            .slice(0, MOST_OPTIONS)
            .map((each) => <option key={each.path} value={each.path} label={`${each.path} · ${each.type}`} />)}
      </datalist>
      {faults.length > 0 && (
        <div id={`${id}-faults`} class="wide small fault">
          {faults.map((fault) => (
            <div key={fault}>{fault}</div>
          ))}
        </div>
      )}
      {inheritedFrom === undefined && (
        <details class="wide">
          <summary class="small">
            Conversion<span class="unseen"> of {path}</span>
            {conversions.length > 0 && <span class="soft">: {conversions.join(', ')}</span>}
          </summary>
          <Conversions field={field} onChange={change} />
          {definedAs === undefined && (
            <button type="button" class="plain" onClick={() => onRemove(path)}>
              Remove {path}
            </button>
          )}
        </details>
      )}
    </li>
  );
}

interface NewFieldProps {
  readonly onAdd: (path: string, type: MappedType) => void;
  readonly isTaken: (path: string) => boolean;
}

/** A row of controls that adds a field. It is inside the form of the editor, so it is no form itself. */
function NewField({ onAdd, isTaken }: NewFieldProps) {
  const [path, setPath] = useState('');
  const [type, setType] = useState<MappedType>('string');
  const isReady = path.trim() !== '' && !isTaken(path.trim());
  const add = () => {
    if (!isReady) return;
    onAdd(path.trim(), type);
    setPath('');
  };
  return (
    <div class="joined">
      <input
        aria-label="Path of a new field"
        placeholder="another field"
        autocomplete="off"
        spellcheck={false}
        maxLength={255}
        value={path}
        onInput={({ currentTarget }) => setPath(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <select
        class="narrow"
        aria-label="Type of a new field"
        value={type}
        onChange={({ currentTarget }) => setType(MAPPED_TYPES.find((each) => each === currentTarget.value) ?? 'string')}
      >
        {MAPPED_TYPES.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <button type="button" disabled={!isReady} onClick={add}>
        Add
      </button>
    </div>
  );
}
