import type { JsonSchema } from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

const SCHEMAS: Readonly<Record<string, JsonSchema>> = official.schemas;

/** Returns the values of a form as the members of a record hold them: numbers, flags, and null for what is emptied. */
export function readForm(values: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const properties: Readonly<Record<string, JsonSchema>> = Object(SCHEMAS[name]?.properties ?? {});
  const known = Object.entries(values).filter(([member]) => Object.hasOwn(properties, member));
  return Object.fromEntries(known.map(([member, value]) => [member, readValue(value, Object(properties[member]))]));
}

function readValue(value: unknown, schema: JsonSchema): unknown {
  const inner = resolve(schema);
  const types = [inner.type].flat();
  if (value === '') return null;
  if (types.includes('object') && typeof value === 'object') {
    const properties: Readonly<Record<string, JsonSchema>> = Object(inner.properties ?? {});
    return Object.fromEntries(
      Object.entries(Object(value)).map(([member, each]) => [member, readValue(each, Object(properties[member]))]),
    );
  }
  if (typeof value !== 'string') return value;
  if (types.includes('integer') || types.includes('number')) return Number(value);
  return types.includes('boolean') ? value === 'true' : value;
}

/** Follows references, and the one schema of a choice between it and null. */
function resolve({ $ref, anyOf, ...schema }: JsonSchema): JsonSchema {
  if (typeof $ref === 'string') return resolve(SCHEMAS[$ref.replace('#/schemas/', '')] ?? {});
  if (!Array.isArray(anyOf)) return schema;
  const choices: readonly JsonSchema[] = anyOf;
  return resolve(choices.find((choice) => choice.type !== 'null') ?? {});
}
