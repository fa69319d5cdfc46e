import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import document from '../../generated/openapi.json' with { type: 'json' };

const SCHEMAS = document['x-webhooks'].event.post.requestBody.content['application/json'].schema.anyOf;

const ajv = new Ajv({ strict: false, allErrors: true }).addSchema(closed(document), 'api');
formats.default(ajv);

/** The names of the schemas that the body of an event may have. */
export const EVENT_SCHEMAS: readonly string[] = SCHEMAS.map(({ $ref }) => $ref.replace('#/components/schemas/', ''));

/** Returns the faults of the body of an event. Members that its schema does not name are faults. */
export function faultsOfEvent(body: unknown, schema = schemaOf(Object(body).type)): string {
  ajv.validate({ $ref: `api#/components/schemas/${schema}` }, body);
  return ajv.errorsText();
}

export const NO_FAULTS = 'No errors';

/** Returns the schema that names the type. Other types are those of records. */
function schemaOf(type: string): string {
  return EVENT_SCHEMAS.find((name) => typesOf(name).includes(type)) ?? 'RecordEvent';
}

/** Returns the types that a schema names. */
export function typesOf(schema: string): readonly string[] {
  return Object(document.components.schemas)[schema].properties.type.enum ?? [];
}

/** Returns a schema in which objects accept only the members that it names. */
function closed(node: unknown): object {
  if (Array.isArray(node)) return node.map((each) => (isObject(each) ? closed(each) : each));
  const members = Object.entries(Object(node)).map(([name, child]) => [name, isObject(child) ? closed(child) : child]);
  const isOpen = isObject(node) && 'properties' in node && !('additionalProperties' in node);
  return { ...Object.fromEntries(members), ...(isOpen && { additionalProperties: false }) };
}

function isObject(node: unknown): node is object {
  return typeof node === 'object' && node !== null;
}
