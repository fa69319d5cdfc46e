import { ExactNumber, isJsonObject } from '../../src/numbers/exact-json.ts';

/** Returns a value as text, for the clipboard. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isNested(value) ? JSON.stringify(value) : String(value ?? '');
}

/** Shows a value on one line. Nested values are folded. */
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

/** Number of characters that always fit into a cell. */
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

/** Returns whether a column with this value is aligned to the right, as numbers are. */
export function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || value instanceof ExactNumber;
}
