import { namesInScript } from '../scripts/index.ts';
import type { Step, Trigger } from './model.ts';
import { listReferences, parsePath, withoutReferences } from './references.ts';
import { readJson } from './steps/properties.ts';

/** The fields that a formula names, as paths with dots. */
export interface NamedFields {
  /** Those of its requests and references, by the name of the object. */
  readonly ofObjects: ReadonlyMap<string, ReadonlySet<string>>;
  /** The names of members and the texts in its scripts, one a line. They can belong to any object. */
  readonly inScripts: string;
}

type Node = Trigger | Step;

interface NamedFieldsInput {
  readonly trigger: Trigger | undefined;
  readonly steps: readonly Step[];
  /** Returns the object whose records the requests of a node read or write; undefined where a run decides it. */
  readonly objectOf: (node: Node) => string | undefined;
  /** Returns the objects whose events start the formula. */
  readonly objectsOfEvents: readonly string[];
}

/** Values whose members are the fields of a record: how a reference to them begins, and the objects that the record can be of. */
interface Source {
  readonly begin: readonly string[];
  readonly objects: readonly string[];
}

/** Finds the fields that a formula names of the objects of one instance. */
export function findNamedFields(input: NamedFieldsInput): NamedFields {
  const { trigger, steps, objectOf } = input;
  const nodes = trigger === undefined ? steps : [trigger, ...steps];
  const ofObjects = new Map<string, Set<string>>();
  const add = (object: string, path: string) => {
    const known = ofObjects.get(object) ?? new Set();
    ofObjects.set(object, known.add(path));
  };
  // Formulas of hundreds of steps have many of both.
  const sources = new Map(listSources(input).map(({ begin, objects }) => [keyOf(begin), objects]));
  for (const node of nodes) {
    const object = objectOf(node);
    if (object !== undefined) for (const path of namesOfRequest(node)) add(object, path);
    for (const reference of referencesOf(node)) {
      const path = pathOf(reference);
      for (const length of BEGIN_LENGTHS) {
        const objects = path.length > length ? (sources.get(keyOf(path.slice(0, length))) ?? []) : [];
        for (const each of objects) add(each, path.slice(length).join('.'));
      }
    }
  }
  return { ofObjects, inScripts: namesInScripts(nodes) };
}

/** Numbers of names with which references to a record begin. */
const BEGIN_LENGTHS = [3, 4] as const;
/** Maximum number of characters of the scripts of a formula that are parsed: it takes some milliseconds. Of more, every word counts. */
const MOST_PARSED = 128 * 1024;

function keyOf(begin: readonly string[]): string {
  return begin.join('\n');
}

function namesInScripts(nodes: readonly Node[]): string {
  const bodies = nodes.flatMap((node) => (isScript(node) ? [String(node.properties.body ?? '')] : []));
  const isLong = bodies.reduce((sum, { length }) => sum + length, 0) > MOST_PARSED;
  return (isLong ? bodies : bodies.flatMap(namesInScript)).join('\n');
}

function listSources({ trigger, steps, objectOf, objectsOfEvents }: NamedFieldsInput): readonly Source[] {
  const bodiesOf = (node: Node | undefined, begin: readonly string[]): readonly Source[] => {
    const object = node && objectOf(node);
    if (object === undefined) return [];
    return ['request', 'response'].map((side) => ({ begin: [...begin, side, 'body'], objects: [object] }));
  };
  const bodies = [
    { begin: ['trigger', 'body', 'message', 'raw'], objects: objectsOfEvents },
    ...bodiesOf(trigger, ['trigger']),
    ...steps.flatMap((step) => bodiesOf(step, ['steps', step.name])),
  ];
  // A loop goes through the records of a body.
  const entries = steps.flatMap(({ name, type, properties }) => {
    const [reference] = type === 'loop' ? listReferences(String(properties.list ?? '')) : [];
    const source = reference === undefined ? undefined : bodies.find(({ begin }) => isSame(begin, pathOf(reference)));
    return source === undefined ? [] : [{ begin: ['steps', name, 'entry'], objects: source.objects }];
  });
  return [...bodies, ...entries];
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at]);
}

function isScript({ type }: Node): boolean {
  return type === 'script' || type === 'filter';
}

/** Returns the path of a reference, with the prefix that earlier formulas leave out, and without the indexes of lists. */
function pathOf(reference: string): readonly string[] {
  const path = (parsePath(reference) ?? []).filter((name) => !/^\d+$/.test(name));
  const [root = ''] = path;
  return ['trigger', 'steps', 'config', 'info'].includes(root) ? path : ['steps', ...path];
}

function referencesOf(node: Node): readonly string[] {
  if (isScript(node)) return [];
  return textsOf(node.properties).flatMap(listReferences);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** Query parameters that name fields. */
const NAMING: ReadonlySet<string> = new Set(['where', 'fields', 'orderby']);

/** Returns the fields that a request names in its query and in its body. */
function namesOfRequest({ properties: { api, query, body, form } }: Node): readonly string[] {
  const [, inApi = ''] = String(api ?? '').split(/\?(.*)/s, 2);
  const given = readJson(query);
  const pairs = [
    ...pairsOf(inApi),
    ...(typeof given === 'object' && given !== null ? Object.entries(given) : pairsOf(String(given ?? ''))),
  ];
  const named = pairs.flatMap(([name, value]) => (NAMING.has(name.toLowerCase()) ? wordsOf(String(value)) : []));
  return [...named, ...[body, form].flatMap((each) => leavesOf(readJson(each)))];
}

function pairsOf(query: string): readonly (readonly [string, unknown])[] {
  return [...new URLSearchParams(query)];
}

/** Returns the names in a list of fields or in a `where`, which references make incomplete: it cannot be parsed. */
function wordsOf(text: string): readonly string[] {
  const names = withoutReferences(text).replace(/'(?:[^']|'')*'/g, ' ');
  return [...names.matchAll(/`([^`]+)`|[\p{L}_$][\p{L}\p{N}_$.]*/gu)].map(([word, quoted]) => quoted ?? word);
}

/** Returns the paths of the members of a body. A text with references is often no JSON, but has the names of members as JSON has them. */
function leavesOf(value: unknown, path: readonly string[] = []): readonly string[] {
  if (typeof value === 'string' && path.length === 0)
    return [...value.matchAll(/"((?:[^"\\]|\\.)+)"\s*:/g)].map(([, name = '']) => name);
  if (typeof value !== 'object' || value === null) return path.length === 0 ? [] : [path.join('.')];
  if (Array.isArray(value)) return value.flatMap((item) => leavesOf(item, path));
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]));
}
