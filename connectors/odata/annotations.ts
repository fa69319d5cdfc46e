import { attribute, type Csdl, constant, type Element, elements, texts } from './csdl.ts';

export interface Annotations {
  /** Returns the annotation of a model element, e.g. `find('Shop.Product/price', 'Org.OData.Core.V1.Computed')`. */
  readonly find: (target: string, term: string) => Element | undefined;
  /** Names of the model elements that have annotations. */
  readonly targets: ReadonlySet<string>;
}

/** Collects the annotations inside their element and in `<Annotations Target="…">`, under resolved names. */
export function readAnnotations(csdl: Csdl): Annotations {
  const found = new Map<string, Element>();
  const targets = new Set<string>();
  const collect = (target: string, parent: Element) => {
    for (const annotation of elements(parent, 'Annotation')) {
      // A qualifier marks one of several statements for different uses. None of them applies in general.
      if (attribute(annotation, 'Qualifier') !== undefined) continue;
      targets.add(target);
      found.set(keyOf(target, csdl.resolve(attribute(annotation, 'Term') ?? '')), annotation);
    }
  };
  for (const schema of csdl.schemas) {
    for (const [target, element] of annotatedElements(schema)) collect(target, element);
    for (const group of elements(schema, 'Annotations')) {
      collect(resolveTarget(csdl, attribute(group, 'Target') ?? ''), group);
    }
  }
  return { find: (target, term) => found.get(keyOf(target, term)), targets };
}

function keyOf(target: string, term: string): string {
  return `${target} ${term}`;
}

/** Resolves the target of an annotation. Only the part before the first slash is a qualified name. */
function resolveTarget(csdl: Csdl, target: string): string {
  const [head = '', ...rest] = target.split('/');
  return [csdl.resolve(head), ...rest].join('/');
}

function annotatedElements(schema: Element): readonly (readonly [string, Element])[] {
  const namespace = attribute(schema, 'Namespace') ?? '';
  return [
    ...namedIn(schema, namespace, 'EntityType', 'Property'),
    ...namedIn(schema, namespace, 'ComplexType', 'Property'),
    ...namedIn(schema, namespace, 'EntityContainer', 'EntitySet'),
  ];
}

function namedIn(schema: Element, namespace: string, kind: string, memberKind: string) {
  return elements(schema, kind).flatMap((element) => {
    const name = `${namespace}.${attribute(element, 'Name')}`;
    const members = elements(element, memberKind);
    return [
      [name, element] as const,
      ...members.map((member) => [`${name}/${attribute(member, 'Name')}`, member] as const),
    ];
  });
}

/** The content of an annotation as JSON. */
export type Statement = boolean | string | readonly Statement[] | { readonly [property: string]: Statement };

const TEXTS = ['String', 'PropertyPath', 'EnumMember'] as const;

/** Returns the expression of an annotation or of a record's property. A tagging term without a value means true. */
export function statementOf(element: Element): Statement {
  const [record] = elements(element, 'Record');
  if (record !== undefined) return recordOf(record);
  const collections = elements(element, 'Collection');
  if (collections.length > 0) return collections.flatMap(membersOfCollection);
  const text = TEXTS.map((kind) => constant(element, kind)).find((value) => value !== undefined);
  return text ?? constant(element, 'Bool') !== 'false';
}

function recordOf(record: Element): Statement {
  return Object.fromEntries(
    elements(record, 'PropertyValue').map((value) => [attribute(value, 'Property') ?? '', statementOf(value)]),
  );
}

function membersOfCollection(collection: Element): readonly Statement[] {
  return [...elements(collection, 'Record').map(recordOf), ...TEXTS.flatMap((kind) => texts(collection, kind))];
}

export function booleanOf(statement: Statement | undefined): boolean | undefined {
  return statement === undefined ? undefined : statement !== false;
}

export function textOf(statement: Statement | undefined): string | undefined {
  return typeof statement === 'string' ? statement : undefined;
}

/** Returns a property of a record, or undefined if the statement is no record or lacks the property. */
export function propertyOf(statement: Statement | undefined, name: string): Statement | undefined {
  if (typeof statement !== 'object' || isList(statement) || !Object.hasOwn(statement, name)) return undefined;
  return statement[name];
}

export function membersOf(statement: Statement | undefined): readonly Statement[] {
  return typeof statement === 'object' && isList(statement) ? statement : [];
}

export function textsOf(statement: Statement | undefined): readonly string[] {
  return membersOf(statement).flatMap((member) => textOf(member) ?? []);
}

function isList(statement: Statement): statement is readonly Statement[] {
  return Array.isArray(statement);
}
