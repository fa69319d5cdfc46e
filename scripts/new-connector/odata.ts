import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { attribute, type Csdl, type Element, elements, parseCsdl } from '../../connectors/odata/csdl.ts';
import type { JsonSchema, OfficialOperation } from '../../src/connector/simulator/index.ts';
import type { Described } from './official.ts';
import { type JsonObject, orNull } from './schemas.ts';

/**
 * Reads the `$metadata` of an OData 4 service as XML. Each entity set has the operations on its list and on its records.
 * @throws MetadataError for a file that is no such document
 */
export async function readOData(file: string): Promise<readonly Described[]> {
  const csdl = parseCsdl(await readFile(file, 'utf8'));
  const sets = csdl.schemas.flatMap((schema) =>
    elements(schema, 'EntityContainer').flatMap((container) => elements(container, 'EntitySet')),
  );
  const name = basename(file, extname(file));
  return [
    {
      name,
      title: name,
      version: 'OData 4',
      security: [],
      operations: Object.fromEntries(sets.flatMap((set) => operationsOf(set, csdl))),
      schemas: Object.fromEntries(csdl.schemas.flatMap((schema) => schemasOf(schema, csdl))),
    },
  ];
}

function operationsOf(set: Element, { resolve }: Csdl): readonly (readonly [string, OfficialOperation])[] {
  const path = `/${attribute(set, 'Name')}`;
  const record: JsonSchema = { $ref: referenceTo(resolve(attribute(set, 'EntityType') ?? '')) };
  const page = {
    type: 'object',
    required: ['value'],
    properties: { value: { type: 'array', items: record }, '@odata.nextLink': { type: 'string' } },
  };
  return [
    [`GET ${path}`, { responses: { 200: page } }],
    [`POST ${path}`, { body: record, responses: { 201: record } }],
    [`GET ${path}({key})`, { responses: { 200: record } }],
    [`PATCH ${path}({key})`, { body: record, responses: { 204: {} } }],
    [`DELETE ${path}({key})`, { responses: { 204: {} } }],
  ];
}

function referenceTo(type: string): string {
  return `#/schemas/${type}`;
}

function schemasOf(schema: Element, csdl: Csdl): readonly (readonly [string, JsonSchema])[] {
  const nameOf = (element: Element) => `${attribute(schema, 'Namespace')}.${attribute(element, 'Name')}`;
  const types = [...elements(schema, 'EntityType'), ...elements(schema, 'ComplexType')];
  return [
    ...types.map((type) => [nameOf(type), typeOf(type, csdl)] as const),
    ...elements(schema, 'EnumType').map((type) => [nameOf(type), enumOf(type)] as const),
  ];
}

function enumOf(type: Element): JsonSchema {
  return { type: 'string', enum: elements(type, 'Member').map((member) => attribute(member, 'Name')) };
}

/** Returns the schema of a type. A key always has a value, and other properties may be left out of a request. */
function typeOf(type: Element, csdl: Csdl): JsonSchema {
  const base = attribute(type, 'BaseType');
  const keys = elements(type, 'Key').flatMap((key) =>
    elements(key, 'PropertyRef').map((each) => attribute(each, 'Name')),
  );
  const properties = elements(type, 'Property').map(
    (each) => [attribute(each, 'Name'), propertyOf(each, csdl)] as const,
  );
  return {
    type: 'object',
    ...(base !== undefined && { allOf: [{ $ref: referenceTo(csdl.resolve(base)) }] }),
    ...(keys.length > 0 && { required: keys }),
    properties: Object.fromEntries(properties),
  };
}

/** Values of a property that the service sets itself. Source: OData vocabulary `Org.OData.Core.V1`. */
const COMPUTED = 'Org.OData.Core.V1.Computed';

function propertyOf(property: Element, csdl: Csdl): JsonObject {
  const terms = elements(property, 'Annotation').filter((each) => attribute(each, 'Bool') !== 'false');
  const isComputed = terms.some((each) => csdl.resolve(attribute(each, 'Term') ?? '') === COMPUTED);
  const written = valueOfType(attribute(property, 'Type') ?? 'Edm.String', csdl);
  const longest = Number(attribute(property, 'MaxLength'));
  const value = { ...written, ...(longest > 0 && written.type === 'string' && { maxLength: longest }) };
  return {
    ...(attribute(property, 'Nullable') === 'false' ? value : orNull(value)),
    ...(isComputed && { readOnly: true }),
  };
}

const PRIMITIVES: Readonly<Record<string, JsonObject>> = {
  ...Object.fromEntries(
    ['Byte', 'SByte', 'Int16', 'Int32'].map((name) => [name, { type: 'integer', format: 'int32' }]),
  ),
  ...Object.fromEntries(['Decimal', 'Double', 'Single'].map((name) => [name, { type: 'number' }])),
  Boolean: { type: 'boolean' },
  Int64: { type: 'integer', format: 'int64' },
  Date: { type: 'string', format: 'date' },
  DateTimeOffset: { type: 'string', format: 'date-time' },
  Guid: { type: 'string', format: 'uuid' },
};

function valueOfType(type: string, csdl: Csdl): JsonObject {
  const [, item] = /^Collection\((.*)\)$/.exec(type) ?? [];
  if (item !== undefined) return { type: 'array', items: valueOfType(item, csdl) };
  const [, primitive] = /^Edm\.(.*)$/.exec(type) ?? [];
  if (primitive === undefined) return { $ref: referenceTo(csdl.resolve(type)) };
  return PRIMITIVES[primitive] ?? { type: 'string' };
}
