import { defined } from '../connector/kit/kinds.ts';
import { type FieldSpec, type PushedField, pushedField, type Queryable } from '../where/index.ts';
import type { MappedField } from './mapped-field.ts';
import type { MappingInForce } from './model.ts';
import { isMany, type PathStep, parsePath } from './paths.ts';
import { holdersOf } from './row-mapping.ts';

type LocalTest = (path: string) => string | undefined;

/** The members of the mapped record that a script may write, found in its syntax tree. */
export interface ScriptWrites {
  /** Dotted paths of the mapped record, or `anything`. */
  readonly writes: 'anything' | readonly string[];
  /** Why it is anything, as a clause. */
  readonly why?: string;
}

/** Returns why a field can only be checked on the result of the script. Undefined for a field that the script leaves alone. */
export function localBy(script: ScriptWrites | undefined): LocalTest {
  if (script === undefined) return () => undefined;
  const { writes, why } = script;
  if (writes === 'anything') return () => `the script may change it${why === undefined ? '' : `: ${why}`}`;
  const meets = (path: string, other: string) =>
    path === other || path.startsWith(`${other}.`) || other.startsWith(`${path}.`);
  return (path) => {
    const names = path.replaceAll(/\[[^\]]*\]/g, '');
    return writes.some((each) => meets(names, each)) ? 'the script may change it' : undefined;
  };
}

/** Marks a field that a script may write as one that has a value, whatever the mapping says. */
export function withScript(field: MappedField, reason: string | undefined): MappedField {
  if (reason === undefined) return field;
  const { view, ...rest } = asLocal(field, reason);
  const [source, ...more] = field.sources;
  const isWhole = source !== undefined && more.length === 0 && source.rest.length === 0 && !isMany(field.steps);
  return { ...rest, view: { ...view, isMapped: true }, ...(isWhole && { scriptSource: source.field }) };
}

export function asLocal(field: MappedField, reason: string): MappedField {
  const { spec, view } = field;
  return {
    ...field,
    spec: localSpec(spec),
    view: { ...view, local: reason },
    rewrite: () => ({ kind: 'local', reason }),
  };
}

/** A field whose values may be others than the provider's. */
function localSpec({ type, label, createable, updateable, unlisted, onDemand, custom }: FieldSpec): FieldSpec {
  return defined({ type, label, createable, updateable, unlisted, onDemand, custom });
}

export function passThroughOf({ configuration }: MappingInForce): {
  readonly fromVendor: boolean;
  readonly toVendor: boolean;
} {
  const entry = configuration.find((each) => each.type === 'passThrough');
  return { fromVendor: entry?.properties.fromVendor !== false, toVendor: entry?.properties.toVendor !== false };
}

/** A field of the provider's object that keeps its name. */
export interface PassedField {
  readonly field: PushedField;
  readonly spec: FieldSpec;
  readonly isShown: boolean;
  /** Paths inside its values that mapped fields show. */
  readonly without: readonly (readonly PathStep[])[];
  readonly local?: string;
}

export function passedFields(
  { fields }: Queryable,
  mapped: readonly MappedField[],
  { fromVendor, toVendor }: ReturnType<typeof passThroughOf>,
  isLocal: LocalTest,
): readonly PassedField[] {
  const sources = mapped.flatMap((field) => field.sources);
  const taken = new Set(sources.filter(({ rest }) => rest.length === 0).map(({ field }) => field.name));
  const names = new Set(mapped.map(({ path }) => path));
  const tops = new Set(
    mapped.flatMap(({ steps }) =>
      steps.length > 1 && steps[0]?.kind === 'name' && steps[1]?.kind !== 'name' ? [steps[0].name] : [],
    ),
  );
  const isReplaced = (name: string) => taken.has(name) || names.has(name) || tops.has(name);
  return Object.entries(fields).flatMap(([name, spec]): PassedField[] => {
    if (isReplaced(name) || holdersOf(name).some(isReplaced)) return [];
    const { aliases: _, native: __, ...rest } = spec;
    const writable = {
      createable: toVendor && spec.createable === true,
      updateable: toVendor && spec.updateable === true,
    };
    const field = pushedField(name, spec);
    const without = sources.flatMap((source): (readonly PathStep[])[] => {
      if (source.field.name === name) return source.rest.length > 0 ? [source.rest] : [];
      const below = source.field.name.startsWith(`${name}.`)
        ? parsePath(source.field.name.slice(name.length + 1))
        : undefined;
      return below === undefined ? [] : [[...below, ...source.rest]];
    });
    if (!fromVendor && !writable.createable && !writable.updateable) return [];
    const isMixed = mapped.some(({ path }) => path.startsWith(`${name}.`));
    const reason = isMixed ? SEVERAL : isLocal(name);
    const { read: ___, write: ____, ...shown } = rest;
    const whole = { ...shown, ...writable };
    return [
      {
        field,
        spec: reason === undefined ? whole : localSpec(whole),
        isShown: fromVendor,
        without,
        ...(reason !== undefined && { local: reason }),
      },
    ];
  });
}

export const SEVERAL = 'the mapping makes it of several values';
