import { booleanOf, type FindAnnotation, listOf, recordOf, recordsOf } from './annotations.ts';
import { constant, type Element } from './csdl.ts';

/**
 * What an entity set says it can do. Sources: the vocabulary Org.OData.Capabilities.V1 (OASIS); what is not said is allowed,
 * as the vocabulary's defaults have it.
 */
export interface Capabilities {
  readonly readable: boolean;
  readonly readableByKey: boolean;
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  readonly pagesByOffset: boolean;
  readonly filterable: (property: string) => boolean;
  /** SingleValue, MultiValue, SingleRange, … where the set restricts how a property may be filtered. */
  readonly allowedExpressions: (property: string) => string | undefined;
  readonly requiredFilters: readonly string[];
  /** Function names of `$filter`; undefined when the service does not list them. */
  readonly functions: ReadonlySet<string> | undefined;
  readonly sortable: (property: string) => boolean;
  readonly insertableProperty: (property: string) => boolean;
  readonly requiredOnInsert: (property: string) => boolean;
  readonly updatableProperty: (property: string) => boolean;
}

const VOCABULARY = 'Org.OData.Capabilities.V1';

/** `set` and `container` are annotation targets: `Shop.Container/Products` and `Shop.Container`. */
export function readCapabilities(find: FindAnnotation, set: string, container: string): Capabilities {
  const term = (name: string) => find(set, `${VOCABULARY}.${name}`) ?? find(container, `${VOCABULARY}.${name}`);
  const restrictions = (name: string) => recordOf(term(`${name}Restrictions`));
  const read = restrictions('Read');
  const insert = restrictions('Insert');
  const update = restrictions('Update');
  const allowed = (value: Element | undefined) => booleanOf(value) ?? true;
  return {
    readable: allowed(read.get('Readable')),
    readableByKey:
      allowed(term('IndexableByKey')) &&
      allowed(recordOf(read.get('ReadByKeyRestrictions')).get('Readable') ?? read.get('Readable')),
    insertable: allowed(insert.get('Insertable')),
    updatable: allowed(update.get('Updatable')),
    deletable: allowed(restrictions('Delete').get('Deletable')),
    pagesByOffset: allowed(term('TopSupported')) && allowed(term('SkipSupported')),
    ...readFilter(restrictions('Filter')),
    ...readSort(restrictions('Sort')),
    functions: readFunctions(term('FilterFunctions')),
    insertableProperty: noneOf(insert.get('NonInsertableProperties')),
    requiredOnInsert: oneOf(insert.get('RequiredProperties')),
    updatableProperty: noneOf(update.get('NonUpdatableProperties')),
  };
}

type Restrictions = ReadonlyMap<string, Element>;

function readFilter(restrictions: Restrictions) {
  const filterable = booleanOf(restrictions.get('Filterable')) ?? true;
  const mayFilter = noneOf(restrictions.get('NonFilterableProperties'));
  const expressions = new Map(
    recordsOf(restrictions.get('FilterExpressionRestrictions')).map((restriction) => [
      stringOf(restriction.get('Property'), 'PropertyPath') ?? '',
      stringOf(restriction.get('AllowedExpressions'), 'String') ?? '',
    ]),
  );
  return {
    filterable: (property: string) => filterable && mayFilter(property),
    allowedExpressions: (property: string) => expressions.get(property),
    requiredFilters: listOf(restrictions.get('RequiredProperties'), 'PropertyPath'),
  };
}

/** A property that can be sorted in one direction only cannot be offered for both. */
function readSort(restrictions: Restrictions) {
  const sortable = booleanOf(restrictions.get('Sortable')) ?? true;
  const fixed = ['NonSortableProperties', 'AscendingOnlyProperties', 'DescendingOnlyProperties'].map((name) =>
    noneOf(restrictions.get(name)),
  );
  return { sortable: (property: string) => sortable && fixed.every((allows) => allows(property)) };
}

function readFunctions(annotation: Element | undefined): ReadonlySet<string> | undefined {
  return annotation && new Set(listOf(annotation, 'String'));
}

function stringOf(value: Element | undefined, kind: string): string | undefined {
  return value && constant(value, kind);
}

function oneOf(list: Element | undefined): (property: string) => boolean {
  const named = new Set(listOf(list, 'PropertyPath'));
  return (property) => named.has(property);
}

function noneOf(list: Element | undefined): (property: string) => boolean {
  const named = oneOf(list);
  return (property) => !named(property);
}
