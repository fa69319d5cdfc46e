import type { FieldSpec } from '../../where/model.ts';

/** A field of a type that is not known: shown, and neither filtered nor sorted by the provider. */
export type Shown = FieldSpec & { readonly [Ability in 'filter' | 'sortable']?: never };

/** What a field of some type can do; made from the provider's description of the field where that tells more than a word. */
export type Kind<Source> = FieldSpec | ((source: Source) => FieldSpec);

export interface KindsOptions<Name extends string, Source> {
  readonly table: Readonly<Record<Name, Kind<Source>>>;
  /** The provider's word for a type → its kind. Default: the names of the table are the words. */
  readonly words?: Readonly<Record<string, Name>>;
  /** Of any other word. */
  readonly unknown: Shown;
}

/** The fields' abilities by the provider's word for their type. */
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

/** The same without the members that are undefined: `{ ...defined({ label, type }) }` has a label only where there is one. */
export function defined<Members extends object>(members: Members): Members {
  // What is left out is optional or undefined under the type already.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}
