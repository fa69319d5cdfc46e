import type { ComparisonOperator, Operator } from './ast.ts';

/**
 * The model by which filters are checked and planned: typed values, fields with their declared abilities, and the translator. Connectors
 * use it through `#connector`; the platform's own tables use it too.
 */

/** The type of a field. `number` is a decimal of any size (never a double), `datetime` is an instant, and `date` has no time zone. */
export type FieldType = 'string' | 'number' | 'integer' | 'boolean' | 'date' | 'datetime' | 'object' | 'array';

/** A literal, read as a value of its field's type. */
export type Value =
  | { readonly kind: 'string'; readonly value: string }
  /** A canonical decimal: `-12.5`, without an exponent and without leading or trailing zeros. */
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** A date as `yyyy-MM-dd`. */
  | { readonly kind: 'date'; readonly text: string }
  /** An instant: as canonical UTC text `yyyy-MM-ddTHH:mm:ss[.f…]Z`, and as milliseconds since 1970 plus the nanoseconds below them. */
  | { readonly kind: 'datetime'; readonly text: string; readonly epochMs: number; readonly nanos: number };

/**
 * The exactness with which a provider evaluates an operator. `exact`: it returns the rows that match and no others. `superset`: it may return more rows,
 * so the core checks them again.
 */
export type Exactness = 'exact' | 'superset';

/** The comparison of text: `cs` distinguishes upper and lower case, `ci` does not. */
export type Collation = 'cs' | 'ci';

/** The form of a LIKE pattern: `a`, `a%`, `%a`, `%a%`, or anything else, such as `a%b_`. */
export type LikeForm = 'literal' | 'prefix' | 'suffix' | 'contains' | 'pattern';

/** A LIKE pattern in parts: `%` is `any`, `_` is `one`, and escapes are resolved. */
export interface LikePattern {
  readonly form: LikeForm;
  /** The literal text of the pattern, unless its form is `pattern`. */
  readonly text: string;
  readonly parts: readonly (
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'any' }
    | { readonly kind: 'one' }
  )[];
}

/**
 * The values that a field can hold, beside its `range`, and those that the provider can be queried with. The planner never sends a literal
 * that no row can equal: it sends a neighbour instead, or decides the predicate itself. Declare only what holds for every row, because a
 * row outside would be lost.
 */
export interface Domain {
  /** Maximum number of digits of a number: behind the point, from the first that is not zero, or on both sides of the point together. */
  readonly digits?: { readonly decimals: number } | { readonly significant: number } | { readonly total: number };
  /**
   * Number of significant digits that the provider keeps of a number. It needs `superset` operators. A row may show a rounded value, so the
   * planner widens each comparison to the next lower and the next higher number of that many digits.
   */
  readonly rounded?: number;
  /** The first and the last date or instant. A date in place of an instant stands for its first instant in UTC. */
  readonly first?: string;
  readonly last?: string;
  /** The distance between two neighbouring dates or instants, in UTC. */
  readonly step?: 'day' | 'minute' | 'second' | 'millisecond';
  /** The texts that the field can hold. */
  readonly text?: TextDomain;
  /** Whether every row holds one of the field's `values` in their spelling. The planner then sends literals in that spelling. */
  readonly closed?: true;
}

/** The texts that a field can hold, and those that the provider can be queried with. */
interface TextDomain {
  /** Maximum number of characters (UTF-16 units). */
  readonly longest?: number;
  /** Whether no row holds the empty text. */
  readonly nonEmpty?: true;
  /** Returns whether a row can hold the text, e.g. for ids of a fixed form. */
  readonly possible?: (text: string) => boolean;
  /** Returns whether the provider can be queried with the text. Use it for texts whose meaning in a filter is not documented. */
  readonly askable?: (text: string) => boolean;
  /**
   * Returns whether the provider surely distinguishes the text from every other text that we distinguish. For any other text, a negation
   * could leave out matching rows, so the planner requests every row with a value and checks the rows again.
   */
  readonly certain?: (text: string) => boolean;
}

/**
 * The treatment of a missing value by a provider's `!=`, NOT IN and NOT LIKE. `different`: it matches, or that is not known, so the planner adds IS
 * NOT NULL. `unknown`: as in SQL and in Causeway, it does not match.
 */
export type Nulls = 'different' | 'unknown';

/** The type and the abilities of a field. An ability that is absent is not supported. */
export interface FieldSpec {
  readonly type: FieldType;
  /** The provider's name. A dotted path reads nested JSON. Default: the field's own name. */
  readonly native?: string;
  readonly nativeType?: string;
  readonly label?: string;
  /**
   * Other names of the field in queries, such as those of an earlier API, with the comparison that `=` of the name means: `{ since: '>=' }`
   * makes `since = x` mean `updated >= x`. All other operators keep their meaning. Rows show the field's own name only.
   */
  readonly aliases?: Readonly<Record<string, ComparisonOperator>>;
  /** A more precise type for people and SDKs, e.g. `email`, `uri` or `uuid`. Numbers of the format `DECIMAL_TEXT` are returned as text. */
  readonly format?: string;
  /**
   * The smallest and the largest number that the field can hold, as canonical decimals. The core rejects other numbers on create and
   * update, and never queries with them.
   */
  readonly range?: readonly [least: string, most: string];
  /** Whether a row can lack a value. Default true. */
  readonly nullable?: boolean;
  /** Whether create needs a value. Default false. */
  readonly required?: boolean;
  /** Whether POST can set the field (`createable`), and whether PATCH can (`updateable`). Default false. */
  readonly createable?: boolean;
  readonly updateable?: boolean;
  /** Whether null removes a stored value. If false, the core rejects null on update and does not send it on create. Default true. */
  readonly clearable?: boolean;
  /** Whether the provider can sort by the field. Default false. */
  readonly sortable?: boolean;
  /** Whether the customer added the field at the provider. Default false. */
  readonly custom?: boolean;
  /** Whether the field is returned only when `fields` names it, because it costs extra or may be refused. Default false. */
  readonly onDemand?: boolean;
  /** Whether only single records have the field. If true, lists neither return it nor filter or sort by it. Default false. */
  readonly unlisted?: boolean;
  /** The values to choose from. If `domain.closed` is set, rows hold no others. */
  readonly values?: readonly string[];
  /** The values that the field can hold, beside `range`. */
  readonly domain?: Domain;
  /** The treatment of a missing value by the field's negations. Default: `nulls` of the translator. */
  readonly nulls?: Nulls;
  /** The operators that the provider evaluates for the field, each with its exactness. */
  readonly filter?: Readonly<Partial<Record<Operator, Exactness>>>;
  /** The forms of patterns that `filter.LIKE` and `filter['NOT LIKE']` cover. Default: all of them. */
  readonly likeForms?: readonly LikeForm[];
  /**
   * Characters that the provider may misread in a pattern, e.g. `\\`. The planner replaces each of them by `_`, or sends the longest piece
   * without them, and checks the rows again. A NOT LIKE with one of them becomes IS NOT NULL.
   */
  readonly likeExcept?: string;
  /** The provider's comparison of text. Default `cs`. Only strings have it. */
  readonly collation?: Collation;
  /** Converts a native value to ours where they differ, e.g. `'0000-00-00'` to null. It must be pure. */
  readonly read?: (native: unknown) => unknown;
  /** Converts our value to the native one, on create and update. It must be pure. */
  readonly write?: (value: unknown) => unknown;
}

/**
 * An input of the provider's list that is no field. A filter may use it once, with `=`, joined by AND at the top level. It is always
 * pushed.
 */
export interface ParameterSpec {
  readonly type: FieldType;
  readonly description: string;
  readonly values?: readonly string[];
}

/** The combinations of AND and OR that a provider accepts. */
export type BooleanShape =
  | { readonly kind: 'none' }
  | { readonly kind: 'any' }
  | { readonly kind: 'and' }
  /** OR of groups of predicates that are joined by AND. */
  | { readonly kind: 'dnf'; readonly groups?: number; readonly perGroup?: number; readonly total?: number }
  /** AND of groups of predicates that are joined by OR. */
  | { readonly kind: 'cnf'; readonly groups?: number; readonly perGroup?: number; readonly total?: number }
  /** Only ANDs or only ORs, never both. */
  | { readonly kind: 'and-xor-or' };

/** Limits of the provider's queries. The planner never exceeds them. */
export interface QueryLimits {
  /** Maximum number of predicates in a query. */
  readonly maxTerms?: number;
  /** Maximum number of values in an IN. */
  readonly maxInSize?: number;
  /** Maximum number of characters of the translated filter. */
  readonly maxLength?: number;
  /**
   * Maximum number of rows that pages of one query can reach. The core requests no page beyond it. It continues with a filter on the id
   * where the rows arrive in that order and the id has an exact `>`. Otherwise it reports that there may be more rows.
   */
  readonly resultWindow?: number;
  /** Maximum number of fields in an order. */
  readonly maxSortFields?: number;
}

/** A field as translators receive it. */
export interface PushedField extends FieldSpec {
  readonly name: string;
  /** The provider's name of the field, which is always set here. */
  readonly native: string;
}

/**
 * Turns the pushed part of a filter into the provider's syntax: one small function per construct, with operands that are already
 * translated. It owns quoting and escaping, and decides nothing: the planner has already dealt with nulls and with the values that a field
 * can hold. Leave out a function for a construct that the provider lacks; without `in`, lists become equalities.
 */
export interface Translator<Native> {
  /** The treatment of a missing value by negations. Default `different`. */
  readonly nulls?: Nulls;
  readonly and?: (operands: readonly Native[]) => Native;
  readonly or?: (operands: readonly Native[]) => Native;
  readonly compare?: (field: PushedField, operator: ComparisonOperator, value: Value) => Native;
  readonly in?: (field: PushedField, values: readonly Value[], negated: boolean) => Native;
  readonly like?: (field: PushedField, pattern: LikePattern, negated: boolean) => Native;
  readonly isNull?: (field: PushedField, negated: boolean) => Native;
  /**
   * Returns the number of the provider's terms in a translated filter, where one predicate can become several. It counts for `maxTerms`.
   */
  readonly terms?: (native: Native) => number;
  /**
   * Returns why the provider does not accept a translated filter, or undefined. The planner then leaves out predicates until the filter is
   * accepted.
   */
  readonly fault?: (native: Native) => string | undefined;
}

/** The part of an object by which filters are checked and planned. */
export interface Queryable<Native = unknown> {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /**
   * The field that identifies a record. Default `id`; for an outline, none is known. The core adds it to the end of every order if the
   * provider can sort by it.
   */
  readonly idField?: string;
  readonly parameters?: Readonly<Record<string, ParameterSpec>>;
  /** The combinations of AND and OR that the provider accepts. Default: `and` with a translator, otherwise `none`. */
  readonly shape?: BooleanShape;
  readonly limits?: QueryLimits;
  /** Fields or parameters without which the provider does not return a list. */
  readonly requiredFilters?: readonly string[];
  readonly translator?: Translator<Native>;
}
