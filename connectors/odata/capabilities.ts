import { booleanOf, membersOf, propertyOf, type Statement, textOf, textsOf } from './annotations.ts';

/**
 * The declared capabilities of an entity set. A missing declaration allows everything, as the defaults of the vocabulary do. Source: the
 * vocabulary Org.OData.Capabilities.V1 (OASIS).
 */
export interface Capabilities {
  readonly readable: boolean;
  readonly readableByKey: boolean;
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  readonly pagesByOffset: boolean;
  readonly filterable: (property: string) => boolean;
  /** Returns SingleValue, MultiValue, SingleRange, …, or undefined if the set does not restrict how the property may be filtered. */
  readonly allowedExpressions: (property: string) => string | undefined;
  readonly requiredFilters: readonly string[];
  /** Names of the supported functions of `$filter`. Undefined if the service does not list them. */
  readonly functions: ReadonlySet<string> | undefined;
  readonly sortable: (property: string) => boolean;
  readonly insertableProperty: (property: string) => boolean;
  readonly requiredOnInsert: (property: string) => boolean;
  readonly updatableProperty: (property: string) => boolean;
}

/** The annotation terms that the connector reads, from the set or else from its container. */
export const CAPABILITY_TERMS = [
  'ReadRestrictions',
  'InsertRestrictions',
  'UpdateRestrictions',
  'DeleteRestrictions',
  'FilterRestrictions',
  'SortRestrictions',
  'FilterFunctions',
  'IndexableByKey',
  'TopSupported',
  'SkipSupported',
] as const;

export const CAPABILITIES = 'Org.OData.Capabilities.V1';

export type CapabilityTerm = (typeof CAPABILITY_TERMS)[number];

export function readCapabilities(stated: (term: CapabilityTerm) => Statement | undefined): Capabilities {
  const allows = (term: CapabilityTerm, ...path: readonly string[]) =>
    booleanOf(path.reduce<Statement | undefined>(propertyOf, stated(term)));
  const insert = stated('InsertRestrictions');
  const readable = allows('ReadRestrictions', 'Readable') ?? true;
  return {
    readable,
    readableByKey:
      (allows('IndexableByKey') ?? true) &&
      (allows('ReadRestrictions', 'ReadByKeyRestrictions', 'Readable') ?? readable),
    insertable: allows('InsertRestrictions', 'Insertable') ?? true,
    updatable: allows('UpdateRestrictions', 'Updatable') ?? true,
    deletable: allows('DeleteRestrictions', 'Deletable') ?? true,
    pagesByOffset: (allows('TopSupported') ?? true) && (allows('SkipSupported') ?? true),
    ...readFilter(stated('FilterRestrictions')),
    ...readSort(stated('SortRestrictions')),
    functions: readFunctions(stated('FilterFunctions')),
    insertableProperty: noneOf(propertyOf(insert, 'NonInsertableProperties')),
    requiredOnInsert: oneOf(propertyOf(insert, 'RequiredProperties')),
    updatableProperty: noneOf(propertyOf(stated('UpdateRestrictions'), 'NonUpdatableProperties')),
  };
}

/**
 * Returns the capabilities of a set of media entities. Their creation sends the file, which this connector does not support. Source: OData
 * Protocol 4.01, section 11.4.7.1.
 */
export function ofMedia(capabilities: Capabilities): Capabilities {
  return { ...capabilities, insertable: false };
}

function readFilter(restrictions: Statement | undefined) {
  const filterable = booleanOf(propertyOf(restrictions, 'Filterable')) ?? true;
  const mayFilter = noneOf(propertyOf(restrictions, 'NonFilterableProperties'));
  const expressions = new Map(
    membersOf(propertyOf(restrictions, 'FilterExpressionRestrictions')).map((restriction) => [
      textOf(propertyOf(restriction, 'Property')) ?? '',
      textOf(propertyOf(restriction, 'AllowedExpressions')) ?? '',
    ]),
  );
  return {
    filterable: (property: string) => filterable && mayFilter(property),
    allowedExpressions: (property: string) => expressions.get(property),
    requiredFilters: [...new Set(textsOf(propertyOf(restrictions, 'RequiredProperties')))],
  };
}

/** Reads which properties can be sorted. A property that can be sorted in only one direction counts as not sortable. */
function readSort(restrictions: Statement | undefined) {
  const sortable = booleanOf(propertyOf(restrictions, 'Sortable')) ?? true;
  const fixed = ['NonSortableProperties', 'AscendingOnlyProperties', 'DescendingOnlyProperties'].map((name) =>
    noneOf(propertyOf(restrictions, name)),
  );
  return { sortable: (property: string) => sortable && fixed.every((allows) => allows(property)) };
}

function readFunctions(statement: Statement | undefined): ReadonlySet<string> | undefined {
  return statement === undefined ? undefined : new Set(textsOf(statement));
}

function oneOf(list: Statement | undefined): (property: string) => boolean {
  const named = new Set(textsOf(list));
  return (property) => named.has(property);
}

function noneOf(list: Statement | undefined): (property: string) => boolean {
  const named = oneOf(list);
  return (property) => !named(property);
}
