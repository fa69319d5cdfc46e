import { type ErrorDetail, pointer } from '../errors.ts';
import { type PushedField, type Row, reader } from '../where/index.ts';
import type { WrittenValue } from './conversion-base.ts';
import type { FieldSource, MappedField } from './mapped-field.ts';
import type { MappedValue } from './model.ts';
import { hasPath, isMany, readGiven, readPath, writePath } from './paths.ts';
import { namesIn } from './row-mapping.ts';

/** The values of a request for the provider, in the form of the API. */
export interface VendorValues {
  readonly values: Record<string, unknown>;
  readonly faults: readonly ErrorDetail[];
}

/** The written values, and the provider's record where it is needed. */
export interface VendorWriteInput {
  readonly action: 'create' | 'update';
  readonly stored?: Row | undefined;
}

export function toVendor(
  body: Row,
  { action, stored }: VendorWriteInput,
  written: readonly MappedField[],
  passed: ReadonlyMap<string, PushedField>,
): VendorValues {
  const faults: ErrorDetail[] = [];
  let values: unknown = {};
  // What is passed through first: a mapped field wins.
  for (const name of passed.keys()) {
    const steps = namesIn(name);
    if (hasPath(body, steps)) values = writePath(values, steps, readPath(body, steps));
  }
  const write = ({ field, rest }: FieldSource, value: unknown): void => {
    // A part of a value is written with the rest of it, which the provider would lose otherwise.
    if (rest.length > 0 && stored !== undefined && !hasPath(values, namesIn(field.name))) {
      values = writePath(values, namesIn(field.name), reader(field.name)(stored));
    }
    values = writePath(values, [...namesIn(field.name), ...rest], value);
  };
  for (const { path, steps, target, fallback } of written) {
    if (target === undefined || !hasPath(body, steps)) continue;
    const convert = (each: unknown): unknown => {
      if (each === null || each === undefined) return each;
      const result = target.conversion.write?.(each) ?? { value: each };
      if (!isFault(result)) return result.value;
      faults.push({ path: pointer('body', path), message: `'${path}' ${result.fault}` });
      return null;
    };
    const value = readGiven(body, steps);
    // A default fills items that are there, and never makes one.
    const otherwise = action === 'create' ? writtenDefault(target, fallback) : undefined;
    const isList = isMany(steps) && Array.isArray(value);
    write(target, isList ? value.map((each) => convert(each) ?? otherwise ?? each) : convert(value));
  }
  if (action === 'create') {
    for (const { steps, target, fallback } of written) {
      if (target === undefined || isMany(steps) || hasPath(body, steps)) continue;
      const value = writtenDefault(target, fallback);
      // What the request has by another name wins.
      if (value !== undefined && !hasPath(values, [...namesIn(target.field.name), ...target.rest]))
        write(target, value);
    }
  }
  return { values: values as Record<string, unknown>, faults };
}

/** Returns the default as the provider has it. Undefined without one, and for one that the provider cannot have, which is only read. */
function writtenDefault({ conversion }: FieldSource, fallback: MappedValue | undefined): unknown {
  if (fallback === undefined || fallback === null) return undefined;
  const result = conversion.write?.(fallback) ?? { value: fallback };
  return isFault(result) ? undefined : result.value;
}

function isFault(written: WrittenValue | undefined): written is Extract<WrittenValue, { readonly fault: string }> {
  return written !== undefined && 'fault' in written;
}
