import type { ComparisonOperator, Operator } from './ast.ts';

/**
 * What a filter is checked against and planned for: typed values, fields with their declared abilities, and the
 * translator. Connectors speak this model through `#connector`; the platform's own tables implement it too.
 */

/** `number` is a decimal of any size (never a double); `datetime` is an instant; `date` has no zone. */
export type FieldType = 'string' | 'number' | 'integer' | 'boolean' | 'date' | 'datetime' | 'object' | 'array';

/** A literal under its field's type. */
export type Value =
  | { readonly kind: 'string'; readonly value: string }
  /** Canonical decimal text: `-12.5`, no exponent, no leading or trailing zeros. */
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** `yyyy-MM-dd`. */
  | { readonly kind: 'date'; readonly text: string }
  /** An instant: canonical UTC text `yyyy-MM-ddTHH:mm:ss[.f…]Z` and the same as milliseconds plus the nanoseconds below them. */
  | { readonly kind: 'datetime'; readonly text: string; readonly epochMs: number; readonly nanos: number };

/** `exact`: the provider returns exactly the rows we mean. `superset`: every row we mean and perhaps more, so they are checked again. */
export type Exactness = 'exact' | 'superset';

/** Text comparison: `cs` tells cases apart, `ci` does not. */
export type Collation = 'cs' | 'ci';

/** The forms of a LIKE pattern: `a`, `a%`, `%a`, `%a%`, and anything else (`a%b_`). */
export type LikeForm = 'literal' | 'prefix' | 'suffix' | 'contains' | 'pattern';

/** A LIKE pattern taken apart. `%` is `any`, `_` is `one`, escapes are resolved. */
export interface LikePattern {
  readonly form: LikeForm;
  /** The literal text of the forms but `pattern`. */
  readonly text: string;
  readonly parts: readonly (
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'any' }
    | { readonly kind: 'one' }
  )[];
}

/**
 * Which values a field can hold, beside its `range`, and what the provider can be asked about them. A literal that no row can equal is
 * never sent: the planner asks for a neighbour in its place, or knows the answer. All of it is a claim about rows: a row
 * outside would be lost.
 */
export interface Domain {
  /** Most digits of a number: behind the point, from the first that is not zero, or on both sides of the point together. */
  readonly digits?: { readonly decimals: number } | { readonly significant: number } | { readonly total: number };
  /**
   * For `superset` operators on numbers that the provider keeps in so many significant digits: what a row shows may be rounded, so a
   * comparison is asked for from the next lower number of so many digits to the next higher one.
   */
  readonly rounded?: number;
  /** The first and the last date or instant; of a date in place of an instant its first instant in UTC counts. */
  readonly first?: string;
  readonly last?: string;
  /** What lies between two dates or instants next to each other, in UTC. */
  readonly step?: 'day' | 'minute' | 'second' | 'millisecond';
  readonly text?: TextDomain;
  /** A row holds one of the field's `values`, in their spelling. Literals are sent in that spelling. */
  readonly closed?: true;
}

/** Of texts. */
export interface TextDomain {
  /** Most characters (UTF-16 units). */
  readonly longest?: number;
  /** No row holds the empty text. */
  readonly nonEmpty?: true;
  /** Whether a row can hold the text, e.g. for ids that have a form. */
  readonly possible?: (text: string) => boolean;
  /** Whether the provider can be asked for the text. For texts whose meaning in a filter is not documented. */
  readonly askable?: (text: string) => boolean;
  /**
   * Whether the provider surely tells the text from every other one that we tell from it. A negation of another text might leave out
   * rows that are meant, so that every row with a value is asked for and checked again.
   */
  readonly certain?: (text: string) => boolean;
}

/**
 * What a missing value is for a provider's `!=`, NOT IN and NOT LIKE. `different`: other than any value, or it is not
 * known, so these come with IS NOT NULL. `unknown`: as in SQL and here, neither equal nor different.
 */
export type Nulls = 'different' | 'unknown';

/** What a field can do. Everything that is absent means "cannot". */
export interface FieldSpec {
  readonly type: FieldType;
  /** The provider's name; a dotted path reads nested JSON. Default: the field's own name. */
  readonly native?: string;
  readonly nativeType?: string;
  readonly label?: string;
  /**
   * Other names that queries may use for it, such as those of an earlier API, with the comparison that `=` of the name means:
   * `{ since: '>=' }` makes `since = x` mean `updated >= x`. Every other operator is that of the field. Rows keep the field's own name.
   */
  readonly aliases?: Readonly<Record<string, ComparisonOperator>>;
  /** A refinement for people and SDKs, e.g. `email`, `uri`, `uuid`. Numbers of the format `DECIMAL_TEXT` are answered as text. */
  readonly format?: string;
  /** The least and the greatest number that the field holds, in canonical decimals. Others are refused on create and update, and never asked for. */
  readonly range?: readonly [least: string, most: string];
  /** Default true. */
  readonly nullable?: boolean;
  /** Must be given on create. Default false. */
  readonly required?: boolean;
  /** Settable by POST / by PATCH. Default false. */
  readonly createable?: boolean;
  readonly updateable?: boolean;
  /** False where the provider names no value that removes a stored one: null is refused on update, and not sent on create. Default true. */
  readonly clearable?: boolean;
  readonly sortable?: boolean;
  /** True for a field this customer added at the provider. */
  readonly custom?: boolean;
  /** Answered only when `fields` names it: it costs the provider extra, or may be refused. */
  readonly onDemand?: boolean;
  /** Only single records have it: the rows of a list do not, so that a list neither answers nor filters nor sorts it. */
  readonly unlisted?: boolean;
  /** The values to choose from, where there is a list. `domain.closed` says that rows hold no other ones. */
  readonly values?: readonly string[];
  /** Which values there are, beside `range`. */
  readonly domain?: Domain;
  /** Default: the translator's. */
  readonly nulls?: Nulls;
  /** Operators the provider accepts for this field, and how exactly it answers them. */
  readonly filter?: Readonly<Partial<Record<Operator, Exactness>>>;
  /** Pattern forms that `filter.LIKE` and `filter['NOT LIKE']` cover. Default: all of them. */
  readonly likeForms?: readonly LikeForm[];
  /**
   * Characters that the provider may take for something else inside a pattern, e.g. `\\`. A pattern with one of them is asked for by
   * the pattern with `_` in its place, or by its longest piece without, and the rows are checked again. NOT LIKE of one becomes IS NOT NULL.
   */
  readonly likeExcept?: string;
  /** How the provider compares text. Default `cs`. Only for strings. */
  readonly collation?: Collation;
  /** Native value → ours, where they differ (e.g. `'0000-00-00'` → null). Pure. */
  readonly read?: (native: unknown) => unknown;
  /** Our value → native, on create and update. Pure. */
  readonly write?: (value: unknown) => unknown;
}

/** A provider input that is not a column: equality at the top level of the filter only, always pushed. */
export interface ParameterSpec {
  readonly type: FieldType;
  readonly description: string;
  readonly values?: readonly string[];
}

/** The boolean structure a provider takes. */
export type BooleanShape =
  | { readonly kind: 'none' }
  | { readonly kind: 'any' }
  | { readonly kind: 'and' }
  /** OR of ANDs of predicates. */
  | { readonly kind: 'dnf'; readonly groups?: number; readonly perGroup?: number; readonly total?: number }
  /** AND of ORs of predicates. */
  | { readonly kind: 'cnf'; readonly groups?: number; readonly perGroup?: number; readonly total?: number }
  /** Only ANDs or only ORs, never both. */
  | { readonly kind: 'and-xor-or' };

export interface QueryLimits {
  /** Most predicates in one provider query. */
  readonly maxTerms?: number;
  /** Most members of an IN. */
  readonly maxInSize?: number;
  /** Most characters of the translated filter. */
  readonly maxLength?: number;
  /**
   * Rows the provider lets one query page through. No page is asked for that would go beyond: the next rows are asked for by their ids,
   * where they come in that order and `>` of it is exact; otherwise the caller is told that there may be more.
   */
  readonly resultWindow?: number;
  /** Most fields in an order. */
  readonly maxSortFields?: number;
}

/** A field as a translator sees it. */
export interface PushedField extends FieldSpec {
  readonly name: string;
  /** Always set here. */
  readonly native: string;
}

/**
 * Turns the pushed part of a filter into the provider's syntax: one small function per construct, children already
 * translated. It owns quoting and escaping, and decides nothing: the planner has seen to nulls and to what a field can hold. A
 * function that is absent is a construct the provider does not have; without `in`, lists become equalities.
 */
export interface Translator<Native> {
  /** Default `different`. */
  readonly nulls?: Nulls;
  readonly and?: (operands: readonly Native[]) => Native;
  readonly or?: (operands: readonly Native[]) => Native;
  readonly compare?: (field: PushedField, operator: ComparisonOperator, value: Value) => Native;
  readonly in?: (field: PushedField, values: readonly Value[], negated: boolean) => Native;
  readonly like?: (field: PushedField, pattern: LikePattern, negated: boolean) => Native;
  readonly isNull?: (field: PushedField, negated: boolean) => Native;
  /** How many of the provider's terms a translated filter has, where one predicate can become several. Counts for `maxTerms`. */
  readonly terms?: (native: Native) => number;
  /** Why the provider does not take a translated filter after all; the planner then leaves out predicates until it does. */
  readonly fault?: (native: Native) => string | undefined;
}

/** The part of an object that checking and planning need. */
export interface Queryable<Native = unknown> {
  readonly fields: Readonly<Record<string, FieldSpec>>;
  /** The field that identifies a record. Default `id`; of an outline, none that is known. Every order that the provider is told ends with it, if it can. */
  readonly idField?: string;
  readonly parameters?: Readonly<Record<string, ParameterSpec>>;
  /** Default: `and` when there is a translator, otherwise `none`. */
  readonly shape?: BooleanShape;
  readonly limits?: QueryLimits;
  /** Fields or parameters without which the provider does not answer a list. */
  readonly requiredFilters?: readonly string[];
  readonly translator?: Translator<Native>;
}
