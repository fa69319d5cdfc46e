import { ExactNumber, isJsonObject } from '../../src/numbers/exact-json.ts';

/** A value as text: what is copied of it. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isNested(value) ? JSON.stringify(value) : String(value ?? '');
}

/** A value in its cell: one line, nested ones folded. */
export function Cell({ value }: { readonly value: unknown }) {
  if (value === undefined) return null;
  if (value === null) return <span class="soft">null</span>;
  if (value === '') return <span class="clip soft">empty text</span>;
  if (isNested(value)) return <Nested value={value} />;
  const text = textOf(value);
  return (
    <span class="clip" title={text.length > CLIPPED ? text : undefined}>
      {text}
    </span>
  );
}

/** Characters that surely stand in a cell. */
const CLIPPED = 30;

function Nested({ value }: { readonly value: object }) {
  return (
    <details>
      <summary class="clip mono">{JSON.stringify(value)}</summary>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}

function isNested(value: unknown): value is object {
  return Array.isArray(value) || isJsonObject(value);
}

/** Whether it stands to the right, under others of its kind. */
export function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber;
}
