import type { FieldSpec } from '../../where/model.ts';

/** A field whose type is not known: it is shown, but the provider neither filters nor sorts by it. */
export type Shown = FieldSpec & { readonly [Ability in 'filter' | 'sortable']?: never };

/** The abilities of fields of one type. A function makes them from the provider's description of the field. */
export type Kind<Source> = FieldSpec | ((source: Source) => FieldSpec);

/** The provider's names of field types, and the operators that fields of each type support. */
export interface KindsOptions<Name extends string, Source> {
  /** The abilities by the name of a kind. */
  readonly table: Readonly<Record<Name, Kind<Source>>>;
  /** The kind for each of the provider's type names. Default: the names of the table are the provider's. */
  readonly words?: Readonly<Record<string, Name>>;
  /** The abilities of fields whose type is in neither table. */
  readonly unknown: Shown;
}

/** Returns a function that finds the abilities of a field by the provider's name for its type. */
export function kinds<Name extends string, Source = void>({
  table,
  words,
  unknown,
}: KindsOptions<Name, Source>): (word: string, source: Source) => FieldSpec {
  const all = new Map<string, Kind<Source>>(Object.entries(table));
  const named = words && new Map(Object.entries(words).map(([word, name]) => [word, table[name]] as const));
  return (word, source) => {
    const kind = (named ?? all).get(word) ?? unknown;
    return typeof kind === 'function' ? kind(source) : kind;
  };
}

/** Returns a copy without the members that are undefined: `{ ...defined({ label, type }) }` has `label` only where there is one. */
export function defined<Members extends object>(members: Members): Members {
  // What is left out is optional or undefined under the type already.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}
