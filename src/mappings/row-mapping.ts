import type { PushedField, Row } from '../where/index.ts';
import type { ConversionFaults, MappedField } from './mapped-field.ts';
import { type PathStep, writePath } from './paths.ts';

/** Turns records of the provider, in the form of the API, into mapped ones. */
export interface RowMapping {
  /** The fields of the provider's object that are needed. */
  readonly vendorFields: readonly PushedField[];
  readonly map: (vendorRow: Row, faults: ConversionFaults) => Record<string, unknown>;
}

/** A column of mapped rows. */
export interface RowColumn {
  /** The name of the field that shows the column. */
  readonly name: string;
  readonly steps: readonly PathStep[];
  readonly needs: readonly PushedField[];
  readonly read: MappedField['read'];
}

export function namesIn(name: string): readonly PathStep[] {
  return name.split('.').map((each) => ({ kind: 'name', name: each }));
}

/** Compiles the columns of some fields into one loop. The last ones are kept, because queries name the same fields again and again. */
export function rowMappings(all: readonly RowColumn[]): (names?: readonly string[]) => RowMapping {
  const kept = new Map<string, RowMapping>();
  return (names) => {
    const key = names?.join('\n') ?? '*';
    const known = kept.get(key);
    if (known !== undefined) return known;
    const wanted = names && new Set(names);
    const isWanted = ({ name }: RowColumn) =>
      wanted === undefined || wanted.has(name) || [...wanted].some((each) => name.startsWith(`${each}.`));
    const columns = all.filter(isWanted);
    const made = toRowMapping(columns);
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(key, made);
    return made;
  };
}

const MOST_KEPT = 100;

function toRowMapping(columns: readonly RowColumn[]): RowMapping {
  const compiled = columns.map(({ steps, read }) => {
    const [only] = steps;
    const name =
      steps.length === 1 && only?.kind === 'name' && !(only.name in Object.prototype) ? only.name : undefined;
    return { name, steps, read };
  });
  return {
    vendorFields: outermost(columns.flatMap(({ needs }) => needs)),
    map: (row, faults) => {
      let record: Record<string, unknown> = {};
      for (const { name, steps, read } of compiled) {
        const value = read(row, faults) ?? null;
        if (name !== undefined) record[name] = value;
        else record = writePath(record, steps, value) as Record<string, unknown>;
      }
      return record;
    },
  };
}

/** Removes duplicates, and fields inside another needed field. Read after it, they would replace its null by an object. */
export function outermost(fields: readonly PushedField[]): readonly PushedField[] {
  const names = new Map(fields.map((field) => [field.name, field]));
  return [...names.values()].filter(({ name }) => !holdersOf(name).some((holder) => names.has(holder)));
}

/** Returns the fields that contain a field: `a` and `a.b` for `a.b.c`. */
export function holdersOf(name: string): readonly string[] {
  const parts = name.split('.');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('.'));
}
