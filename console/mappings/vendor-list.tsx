import { useState } from 'preact/hooks';
import { Badge } from '../parts/badge.tsx';
import { Skeleton } from '../parts/show.tsx';
import type { FieldForm } from './transformation-form.ts';
import type { ShownVendorField } from './vendor-fields.ts';

interface VendorFieldsProps {
  readonly fields: readonly ShownVendorField[];
  readonly isLoading: boolean;
  /** The reason why fields are missing. */
  readonly note: string | undefined;
  readonly mapped: readonly FieldForm[];
  /** Path of the field of ours that a click maps. */
  readonly chosen: string | undefined;
  readonly onUse: (field: ShownVendorField) => void;
  /** Adds a field of ours and maps it. */
  readonly onAdd: (field: ShownVendorField) => void;
}

const MOST_SHOWN = 300;

/** Lists the provider's fields. Each shows whether it is mapped, and offers to map it. */
export function VendorFields({ fields, isLoading, note, mapped, chosen, onUse, onAdd }: VendorFieldsProps) {
  const [words, setWords] = useState('');
  const wanted = words.trim().toLowerCase();
  const found = fields.filter(
    ({ path, label = '' }) => path.toLowerCase().includes(wanted) || label.toLowerCase().includes(wanted),
  );
  const ours = Map.groupBy(
    mapped.filter(({ source }) => source === 'path'),
    ({ vendorPath }) => vendorPath,
  );
  return (
    <section class="card stack tight" aria-label="Fields of the provider">
      <h2>Fields of the provider</h2>
      {note !== undefined && <p class="small soft">{note}</p>}
      {fields.length > 0 && (
        <input
          type="search"
          aria-label="Search the fields of the provider"
          placeholder="Search  ( / )"
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      )}
      {isLoading && fields.length === 0 && <Skeleton lines={8} />}
      <ul class="vendor-fields">
        {found.slice(0, MOST_SHOWN).map((field) => (
          <li key={field.path}>
            <span class="lines">
              <code class="break">{field.path}</code>
              <span class="small soft break">
                {[field.type, field.label, sayExample(field.example)].filter(Boolean).join(' · ')}
              </span>
            </span>
            <span class="row">
              {ours.get(field.path)?.map(({ path }) => (
                <Badge key={path} tone="good" title={`mapped to ${path}`}>
                  {path}
                </Badge>
              ))}
              <button
                type="button"
                class="plain"
                aria-label={chosen === undefined ? `Use ${field.path}` : `Use ${field.path} for ${chosen}`}
                disabled={chosen === undefined}
                title={chosen === undefined ? 'Choose one of your fields first.' : undefined}
                onClick={() => onUse(field)}
              >
                Use
              </button>
              {!ours.has(field.path) && (
                <button
                  type="button"
                  class="plain"
                  aria-label={`Add a field for ${field.path}`}
                  onClick={() => onAdd(field)}
                >
                  Add
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {fields.length > 0 && found.length === 0 && <p class="soft">No field matches. Change the search.</p>}
      {found.length > MOST_SHOWN && (
        <p class="small soft">
          The first {MOST_SHOWN} of {found.length} fields are shown. Search for others.
        </p>
      )}
    </section>
  );
}

const LONGEST_EXAMPLE = 40;

function sayExample(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST_EXAMPLE ? `${text.slice(0, LONGEST_EXAMPLE)}…` : text;
}
