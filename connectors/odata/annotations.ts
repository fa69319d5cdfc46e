import { attribute, type Csdl, constant, type Element, elements, texts } from './csdl.ts';

/** Finds an annotation of a model element: `find('Shop.Product/price', 'Org.OData.Core.V1.Computed')`. */
export type FindAnnotation = (target: string, term: string) => Element | undefined;

/** Collects annotations inside their element and in `<Annotations Target="…">`, under resolved names. */
export function readAnnotations(csdl: Csdl): FindAnnotation {
  const found = new Map<string, Element>();
  const collect = (target: string, parent: Element) => {
    for (const annotation of elements(parent, 'Annotation')) {
      // A qualifier makes it one of several for different uses; none of them is the general statement.
      if (attribute(annotation, 'Qualifier') !== undefined) continue;
      found.set(keyOf(target, csdl.resolve(attribute(annotation, 'Term') ?? '')), annotation);
    }
  };
  for (const schema of csdl.schemas) {
    for (const [target, element] of annotatedElements(schema)) collect(target, element);
    for (const group of elements(schema, 'Annotations')) {
      collect(resolveTarget(csdl, attribute(group, 'Target') ?? ''), group);
    }
  }
  return (target, term) => found.get(keyOf(target, term));
}

function keyOf(target: string, term: string): string {
  return `${target} ${term}`;
}

/** Only the part in front of the first slash is a qualified name. */
function resolveTarget(csdl: Csdl, target: string): string {
  const [head = '', ...rest] = target.split('/');
  return [csdl.resolve(head), ...rest].join('/');
}

function annotatedElements(schema: Element): readonly (readonly [string, Element])[] {
  const namespace = attribute(schema, 'Namespace') ?? '';
  return [
    ...membersOf(schema, namespace, 'EntityType', 'Property'),
    ...membersOf(schema, namespace, 'ComplexType', 'Property'),
    ...membersOf(schema, namespace, 'EntityContainer', 'EntitySet'),
  ];
}

function membersOf(schema: Element, namespace: string, kind: string, memberKind: string) {
  return elements(schema, kind).flatMap((element) => {
    const name = `${namespace}.${attribute(element, 'Name')}`;
    const members = elements(element, memberKind);
    return [
      [name, element] as const,
      ...members.map((member) => [`${name}/${attribute(member, 'Name')}`, member] as const),
    ];
  });
}

/** The value of a boolean annotation or record property; a tagging term without a value means true. */
export function booleanOf(element: Element | undefined): boolean | undefined {
  return element && constant(element, 'Bool') !== 'false';
}

/** The values of a record annotation by property name. */
export function recordOf(annotation: Element | undefined): ReadonlyMap<string, Element> {
  const [record] = annotation === undefined ? [] : elements(annotation, 'Record');
  return new Map(
    (record === undefined ? [] : elements(record, 'PropertyValue')).map((value) => [
      attribute(value, 'Property') ?? '',
      value,
    ]),
  );
}

/** The records of a collection, each by property name. */
export function recordsOf(value: Element | undefined): readonly ReadonlyMap<string, Element>[] {
  const collections = value === undefined ? [] : elements(value, 'Collection');
  return collections.flatMap((collection) =>
    elements(collection, 'Record').map((record) => recordOf({ Record: [record] })),
  );
}

/** The members of a collection of property paths or strings. */
export function listOf(value: Element | undefined, kind: 'PropertyPath' | 'String'): readonly string[] {
  const collections = value === undefined ? [] : elements(value, 'Collection');
  return collections.flatMap((collection) => texts(collection, kind));
}
