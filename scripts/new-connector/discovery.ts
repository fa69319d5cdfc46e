import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { Described } from './official.ts';
import { describeOpenApi } from './openapi.ts';
import { isObject, type JsonObject, membersOf } from './schemas.ts';

/**
 * Reads a discovery document, in which Google describes its APIs (`discovery#restDescription`).
 * @throws Error for a file that is no such document
 */
export async function readDiscovery(file: string): Promise<readonly Described[]> {
  const document: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!isObject(document) || document.kind !== 'discovery#restDescription') {
    throw new Error(`${file} is not a discovery document.`);
  }
  return [describeOpenApi(toOpenApi(document), basename(file, extname(file)))];
}

/** Returns the document in the form of OpenAPI 3.0. */
function toOpenApi(document: JsonObject): JsonObject {
  const { title, version, revision, servicePath, rootUrl, auth } = document;
  const shared = Object.entries(membersOf(document.parameters)).filter(([name]) => SHARED.includes(name));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const method of methodsIn(document)) {
    const verb = String(method.httpMethod).toLowerCase();
    const parameters = [...Object.entries(membersOf(method.parameters)), ...shared].map(toParameter);
    const add = (path: string, operation: JsonObject) => {
      paths[path] = { ...paths[path], [verb]: operation };
    };
    const body = bodyOf(method.request);
    const response = { responses: { 200: bodyOf(method.response) ?? {} } };
    add(`/${servicePath}${method.path}`, {
      parameters,
      ...(body !== undefined && { requestBody: body }),
      ...response,
    });
    const upload = membersOf(membersOf(membersOf(method.mediaUpload).protocols).simple).path;
    if (typeof upload !== 'string') continue;
    const content = Object.values(membersOf(body?.content));
    const kind = { in: 'query', name: 'uploadType', required: true, schema: { type: 'string' } };
    add(upload, {
      parameters: [...parameters, kind],
      requestBody: { content: { 'multipart/related': content[0] } },
      ...response,
    });
  }
  return {
    info: { title, version: `${version}, revision ${revision}` },
    servers: [{ url: String(rootUrl).replace(/\/$/, '') }],
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(membersOf(document.schemas)).map(([key, each]) => [key, toSchema(each)]),
      ),
      ...(isObject(auth) && { securitySchemes: { oauth2: { type: 'oauth2' } } }),
    },
  };
}

/** The parameters of all operations that clients need. The others choose formats for browsers, and keys. */
const SHARED: readonly string[] = ['alt', 'fields'];

/** Returns the methods of all resources, which are nested. */
function methodsIn({ methods, resources }: JsonObject): readonly JsonObject[] {
  const inner = Object.values(membersOf(resources)).flatMap((resource) => methodsIn(membersOf(resource)));
  return [...Object.values(membersOf(methods)).map(membersOf), ...inner];
}

function toParameter([name, parameter]: readonly [string, unknown]): JsonObject {
  const { location, required, repeated, ...schema } = membersOf(parameter);
  const one = toSchema(schema);
  return { in: location, name, required, schema: repeated === true ? { type: 'array', items: one } : one };
}

function bodyOf(reference: unknown): { readonly content: JsonObject } | undefined {
  if (!isObject(reference)) return undefined;
  return { content: { 'application/json': { schema: toSchema({ $ref: reference.$ref }) } } };
}

/** Returns a schema. Google writes bounds as texts, and says only in words which members it sets itself. */
function toSchema(value: unknown): JsonObject {
  const {
    $ref,
    type,
    description,
    minimum,
    maximum,
    default: _,
    properties,
    items,
    additionalProperties,
    ...others
  } = membersOf(value);
  const isOutput = typeof description === 'string' && description.startsWith('Output only');
  return {
    ...others,
    ...(typeof $ref === 'string' && { $ref: `#/components/schemas/${$ref}` }),
    ...(type !== 'any' && { type }),
    ...(minimum !== undefined && { minimum: Number(minimum) }),
    ...(maximum !== undefined && { maximum: Number(maximum) }),
    ...(isOutput && { readOnly: true }),
    ...(isObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, toSchema(each)])),
    }),
    ...(items !== undefined && { items: toSchema(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: toSchema(additionalProperties) }),
  };
}
