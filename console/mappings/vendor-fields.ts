import { isJsonObject } from '../../src/numbers/exact-json.ts';
import type { Schemas } from '../api.ts';
import type { VendorField } from './suggestions.ts';

/** A field of the provider's object, with its value in an example. */
export interface ShownVendorField extends VendorField {
  readonly label: string | undefined;
  /** Value of the field in the example. Undefined without an example. */
  readonly example: unknown;
}

type Metadata = Pick<Schemas['ObjectMetadata'], 'fields'>;
type Row = Readonly<Record<string, unknown>>;

const DEEPEST = 3;
/** Maximum number of paths that are taken from inside the values of an example. */
const MOST_INNER = 200;

/**
 * Returns the fields of the provider's object: those of the metadata, each object or list followed by the members that it has in an
 * example.
 * @param metadata metadata of the provider's object. If a mapped object has its name, the metadata is that of the mapped one, which has
 * only the mapped and the passed-through fields.
 */
export function vendorFieldsOf(metadata: Metadata, example: Row | undefined): readonly ShownVendorField[] {
  let left = MOST_INNER;
  const takeInner = (path: string, value: unknown) => {
    const inner = innerFields(path, value, DEEPEST).slice(0, left);
    left -= inner.length;
    return inner;
  };
  const seen = new Set<string>();
  return metadata.fields
    .flatMap((field): readonly ShownVendorField[] => {
      // A field of a definition without a mapping has no field at the provider.
      if (field.mapped === false || (field.mapped === true && field.vendorPath === undefined)) return [];
      const path = field.vendorPath ?? field.name;
      const value = example === undefined ? undefined : readPath(example, path);
      const shown = { path, type: field.vendorType ?? field.type, label: labelOf(field, path), example: value };
      return [shown, ...takeInner(path, value)];
    })
    .filter(({ path }) => !seen.has(path) && seen.add(path));
}

function labelOf({ label, name }: Schemas['ObjectField'], path: string): string | undefined {
  return label === name || label === path ? undefined : label;
}

/** Returns the value at a path. Names of members can contain dots. */
export function readPath(record: Row, path: string): unknown {
  if (Object.hasOwn(record, path)) return record[path];
  return path
    .split(/\.|(?=\[)/)
    .reduce<unknown>(
      (value, step) =>
        Array.isArray(value)
          ? value[Number(/^\[(\d+)\]$/.exec(step)?.[1] ?? Number.NaN)]
          : isJsonObject(value) && Object.hasOwn(value, step)
            ? value[step]
            : undefined,
      record,
    );
}

function innerFields(path: string, value: unknown, depth: number): readonly ShownVendorField[] {
  if (depth === 0) return [];
  const [item] = Array.isArray(value) ? value : [];
  const base = Array.isArray(value) ? `${path}[0]` : path;
  const members = Array.isArray(value) ? item : value;
  if (!isJsonObject(members)) return [];
  return Object.entries(members).flatMap(([name, inner]) => {
    const field = { path: `${base}.${name}`, type: typeOf(inner), label: undefined, example: inner };
    return [field, ...innerFields(field.path, inner, depth - 1)];
  });
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'string';
  return isJsonObject(value) ? 'object' : typeof value === 'object' ? 'number' : typeof value;
}
