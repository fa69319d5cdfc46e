import { Fault, type JsonSchema, type OfficialDescription } from '#connector/simulator';

interface Selection extends ReadonlyMap<string, Selection | undefined> {}

/**
 * Returns the members that the parameter `fields` selects: `nextPageToken,files(id,owners/emailAddress)`. Source: "Return specific
 * fields".
 * @throws Fault 400 for a text that is no selection, and for members that the schema does not name
 */
export function select(
  { schemas }: Pick<OfficialDescription, 'schemas'>,
  { fields, schema, value }: { readonly fields: string; readonly schema: string; readonly value: unknown },
): unknown {
  const refuse = () => new Fault(400, 'invalidParameter', `Invalid field selection ${fields}`, { fields: ['fields'] });
  const tokens = fields.match(/[\w*]+|[(),/]|./gs) ?? [];
  let at = 0;

  function readList(): Selection {
    const list = new Map<string, Selection | undefined>();
    do {
      const name = tokens[at++] ?? '';
      if (!/^(?:\w+|\*)$/.test(name)) throw refuse();
      list.set(name, readInner());
    } while (tokens[at] === ',' && at++ >= 0);
    return list;
  }

  function readInner(): Selection | undefined {
    if (tokens[at] === '/') {
      const name = tokens[at + 1] ?? '';
      at += 2;
      return new Map([[name, readInner()]]);
    }
    if (tokens[at] !== '(') return undefined;
    at++;
    const list = readList();
    if (tokens[at++] !== ')') throw refuse();
    return list;
  }

  function resolve({ $ref, ...schema }: JsonSchema): JsonSchema {
    return typeof $ref === 'string' ? (schemas[$ref.replace('#/schemas/', '')] ?? {}) : schema;
  }

  function pick(held: unknown, given: JsonSchema, selection: Selection): unknown {
    const inner = resolve(given);
    if (Array.isArray(held)) return held.map((each) => pick(each, Object(inner.items), selection));
    const properties: Readonly<Record<string, JsonSchema>> = Object(
      inner.properties ?? resolve(Object(inner.items)).properties,
    );
    if (selection.has('*') || Object.keys(properties).length === 0) return held;
    const entries = [...selection].flatMap(([name, deeper]) => {
      const property = properties[name];
      if (property === undefined) throw refuse();
      const member: unknown = Object(held ?? {})[name];
      if (deeper !== undefined) pick(undefined, property, deeper);
      return member === undefined
        ? []
        : [[name, deeper === undefined ? member : pick(member, property, deeper)] as const];
    });
    return Object.fromEntries(entries);
  }

  const selection = readList();
  if (at < tokens.length) throw refuse();
  return pick(value, { $ref: `#/schemas/${schema}` }, selection);
}
