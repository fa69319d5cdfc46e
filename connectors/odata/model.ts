import { type Annotations, readAnnotations, type Statement, statementOf } from './annotations.ts';
import {
  CAPABILITIES,
  CAPABILITY_TERMS,
  type Capabilities,
  type CapabilityTerm,
  ofMedia,
  readCapabilities,
} from './capabilities.ts';
import { assertWithin, CAPS, MetadataError, shorten } from './caps.ts';
import { attribute, type Csdl, type Element, elements, parseCsdl } from './csdl.ts';
import { createTypes, type Types, type TypeText } from './types.ts';

/**
 * The content of a service as plain data. It is cheap to keep, and to transfer between threads: everything that a list of the objects does
 * not need is JSON text, which is read when an object is used. Its size is linear in that of the document, because nothing is stored twice.
 */
export interface Model {
  readonly sets: readonly SetSummary[];
  /** Types by qualified name. */
  readonly types: ReadonlyMap<string, TypeText>;
  /** JSON of annotations. Sets refer to them by index. */
  readonly statements: readonly string[];
}

export interface SetSummary {
  readonly name: string;
  readonly label?: string;
  readonly idField?: string;
  readonly operations: readonly Operation[];
  /** Object names of the collections below the set's records. */
  readonly collections: readonly string[];
  /** JSON of the set's `SetDetail`. */
  readonly detail: string;
}

type Operation = 'list' | 'get' | 'create' | 'update' | 'replace' | 'remove';

export interface SetDetail {
  readonly type: string;
  readonly terms: Terms;
  /** Names of the sets that contain the records of a navigation property, by navigation property. */
  readonly bound: Readonly<Record<string, string>>;
  /** Annotations about records that exist only below their parent, by navigation property. */
  readonly contained: Readonly<Record<string, Terms>>;
  readonly containerTerms: Terms;
}

/** Indexes of statements by term. */
export type Terms = Readonly<Partial<Record<CapabilityTerm, number>>>;

/** The model, or the reason why there is none. */
type Reading = { readonly model: Model } | { readonly fault: string };

/** Reads the model from the XML of `$metadata`. It runs in a thread of its own. */
export default function readModel(xml: string): Reading {
  try {
    return { model: createModel(parseCsdl(xml)) };
  } catch (error) {
    if (error instanceof MetadataError) return { fault: error.message };
    throw error;
  }
}

interface Context {
  readonly csdl: Csdl;
  readonly annotations: Annotations;
  readonly types: Types;
  readonly statements: Statements;
  /** Returns the names of child lists. All sets of a type share one array, so that it is transferred between threads only once. */
  readonly childNames: (type: string) => readonly string[];
}

function createModel(csdl: Csdl): Model {
  const annotations = readAnnotations(csdl);
  const types = createTypes(csdl, annotations.find);
  const statements = createStatements(annotations);
  const childNames = memoized((type: string) => [...objectNames(types.collectionsOf(type)).keys()]);
  const context = { csdl, annotations, types, statements, childNames };
  const containers = csdl.schemas.flatMap((schema) =>
    elements(schema, 'EntityContainer').map(
      (element) => [`${attribute(schema, 'Namespace')}.${attribute(element, 'Name')}`, element] as const,
    ),
  );
  const all = containers.flatMap(([, element]) => elements(element, 'EntitySet'));
  assertWithin('entity sets', all.length, CAPS.sets);
  assertWithin('collections below its entity sets', countCollections(context, all), CAPS.collections);
  const sets = containers.flatMap(([name, element]) => readContainer(context, name, element));
  return { sets, types: types.write(), statements: statements.texts };
}

function memoized<Value>(make: (key: string) => Value): (key: string) => Value {
  const made = new Map<string, Value>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}

function countCollections({ csdl, types }: Context, sets: readonly Element[]): number {
  return sets.reduce((sum, set) => sum + types.collectionsOf(typeNameOf(csdl, set)).length, 0);
}

function typeNameOf(csdl: Csdl, set: Element): string {
  return csdl.resolve(attribute(set, 'EntityType') ?? '');
}

function readContainer(context: Context, container: string, element: Element): readonly SetSummary[] {
  const sets = elements(element, 'EntitySet');
  const names = new Set(sets.map((set) => attribute(set, 'Name') ?? ''));
  const containerTerms = context.statements.termsOf(container);
  return sets.map((set) => readSet(context, set, { container, containerTerms, names }));
}

interface Container {
  readonly container: string;
  readonly containerTerms: Terms;
  /** Names of all entity sets of the container. */
  readonly names: ReadonlySet<string>;
}

function readSet(context: Context, set: Element, { container, containerTerms, names }: Container): SetSummary {
  const { csdl, annotations, types, statements, childNames } = context;
  const name = attribute(set, 'Name') ?? '';
  const target = `${container}/${name}`;
  const type = typeNameOf(csdl, set);
  const collections = types.collectionsOf(type);
  const terms = { ...containerTerms, ...statements.termsOf(target) };
  const contained = collections.filter((collection) => annotations.targets.has(`${target}/${collection}`));
  const label = types.labelOf(target) ?? types.labelOf(type);
  const idField = types.idFieldOf(type);
  const stated = statements.capabilitiesOf(terms);
  const capabilities = types.isMedia(type) ? ofMedia(stated) : stated;
  const detail: SetDetail = {
    type,
    terms,
    bound: boundSets(set, new Set(collections), names),
    contained: Object.fromEntries(
      contained.map((collection) => [
        collection,
        { ...containerTerms, ...statements.termsOf(`${target}/${collection}`) },
      ]),
    ),
    containerTerms,
  };
  return {
    name,
    ...(label !== undefined && { label }),
    ...(idField !== undefined && { idField }),
    operations: operationsOf(capabilities, types.keyOf(type).length > 0),
    // A record without a key has no URL, so it can have no collections.
    collections: types.keyOf(type).length > 0 ? childNames(type) : [],
    detail: JSON.stringify(detail),
  };
}

function boundSets(set: Element, collections: ReadonlySet<string>, names: ReadonlySet<string>): SetDetail['bound'] {
  const bindings = elements(set, 'NavigationPropertyBinding').map((binding) => {
    const target = attribute(binding, 'Target') ?? '';
    return [attribute(binding, 'Path') ?? '', target.slice(target.lastIndexOf('/') + 1)] as const;
  });
  return Object.fromEntries(bindings.filter(([path, target]) => collections.has(path) && names.has(target)));
}

function operationsOf(capabilities: Capabilities, hasKey: boolean): readonly Operation[] {
  const { readable, readableByKey, insertable, updatable, deletable } = capabilities;
  const offered: Readonly<Record<Operation, boolean>> = {
    list: readable,
    get: readableByKey && hasKey,
    create: insertable,
    update: updatable && hasKey,
    replace: updatable && hasKey,
    remove: deletable && hasKey,
  };
  return OPERATIONS.filter((operation) => offered[operation]);
}

const OPERATIONS = ['list', 'get', 'create', 'update', 'replace', 'remove'] as const;

interface Statements {
  readonly texts: readonly string[];
  readonly termsOf: (target: string) => Terms;
  readonly capabilitiesOf: (terms: Terms) => Capabilities;
}

/** Collects the statements of annotations. Each annotation is read once, even if many sets share it through their container. */
function createStatements({ find }: Annotations): Statements {
  const texts: string[] = [];
  const statements: Statement[] = [];
  const indexes = new Map<Element, number>();
  const capabilities = new Map<string, Capabilities>();

  function indexOf(target: string, term: CapabilityTerm): number | undefined {
    const element = find(target, `${CAPABILITIES}.${term}`);
    if (element === undefined) return undefined;
    const known = indexes.get(element);
    if (known !== undefined) return known;
    const statement = statementOf(element);
    const text = JSON.stringify(statement);
    assertWithin(`characters in ${term} of ${shorten(target)}`, text.length, CAPS.statement);
    statements.push(statement);
    indexes.set(element, texts.length);
    return texts.push(text) - 1;
  }

  return {
    texts,
    termsOf: (target) =>
      Object.fromEntries(
        CAPABILITY_TERMS.flatMap((term) => {
          const index = indexOf(target, term);
          return index === undefined ? [] : [[term, index] as const];
        }),
      ),
    capabilitiesOf: (terms) => {
      const key = JSON.stringify(terms);
      const known = capabilities.get(key) ?? readCapabilities((term) => statements[terms[term] ?? -1]);
      capabilities.set(key, known);
      return known;
    },
  };
}

/**
 * Returns the native names by object name. An object name must fit into a path of our API, so the leading underscores that SAP uses for
 * navigation properties are removed. A navigation property has no object if its name still does not fit or is already used.
 */
export function objectNames(natives: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const native of natives) {
    const name = native.replace(/^_+/, '');
    if (/^[A-Za-z0-9]\w{0,127}$/.test(name) && !names.has(name)) names.set(name, native);
  }
  return names;
}
