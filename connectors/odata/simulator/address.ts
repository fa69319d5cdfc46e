import { decode, type TableRow } from '#connector/simulator';
import { problem } from './problem.ts';
import { type EntitySchema, SETS } from './schema.ts';

/** What a path below the service root means. */
export type Address =
  | { readonly kind: 'service' | 'metadata' }
  | { readonly kind: 'set'; readonly set: string }
  | { readonly kind: 'entity'; readonly set: string; readonly key: Key }
  | { readonly kind: 'collection'; readonly set: string; readonly key: Key; readonly name: string };

export type Key = ReadonlyMap<string, string>;

/** `path` is still encoded: a slash inside a key is `%2F`. @throws Fault 404, or 400 for a key that is none. */
export function readAddress(path: string): Address {
  const segments = path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decode);
  const [first = '', name, ...rest] = segments;
  if (first === '') return { kind: 'service' };
  if (first === '$metadata') return { kind: 'metadata' };
  const [, set = '', predicate] = /^(\w+)(?:\((.*)\))?$/s.exec(first) ?? [];
  const entity = Object.hasOwn(SETS, set) ? SETS[set] : undefined;
  if (entity === undefined || rest.length > 0) throw problem(404, `Resource not found for the segment '${first}'.`);
  if (predicate === undefined) return { kind: 'set', set };
  const key = readKey(entity, predicate);
  return name === undefined ? { kind: 'entity', set, key } : { kind: 'collection', set, key, name };
}

function readKey(entity: EntitySchema, predicate: string): Key {
  const [only = ''] = entity.key;
  const parts = entity.key.length === 1 ? new Map([[only, predicate]]) : splitPairs(predicate);
  return new Map(
    entity.key.map((name) => {
      const type = entity.properties[name]?.type ?? '';
      const value = readKeyLiteral(type, parts.get(name) ?? '');
      if (value === undefined) throw problem(400, `'${parts.get(name)}' is no ${type}, which the key '${name}' is.`);
      return [name, value];
    }),
  );
}

function splitPairs(predicate: string): Key {
  const pairs = [...predicate.matchAll(/(?:^|,)(\w+)=('(?:[^']|'')*'|[^',]*)/g)];
  return new Map(pairs.map(([, name = '', literal = '']) => [name, literal]));
}

function readKeyLiteral(type: string, literal: string): string | undefined {
  if (type === 'Edm.String')
    return /^'(?:[^']|'')*'$/.test(literal) ? literal.slice(1, -1).replaceAll("''", "'") : undefined;
  const pattern = type === 'Edm.Guid' ? /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i : /^-?\d+$/;
  return pattern.test(literal) ? literal.toLowerCase() : undefined;
}

/** The address of a row below the service root. */
export function addressOf(set: string, entity: EntitySchema, row: TableRow): string {
  const literals = entity.key.map((name) => {
    const value = String(row[name]);
    const literal = entity.properties[name]?.type === 'Edm.String' ? `'${value.replaceAll("'", "''")}'` : value;
    return entity.key.length === 1 ? encodeURIComponent(literal) : `${name}=${encodeURIComponent(literal)}`;
  });
  return `${set}(${literals.join(',')})`;
}
