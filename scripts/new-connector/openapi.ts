import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { load } from 'js-yaml';
import type { JsonSchema, OfficialOperation } from '../../src/connector/simulator/index.ts';
import type { Described } from './official.ts';
import { isObject, type JsonObject, membersOf, toJsonSchema } from './schemas.ts';

/**
 * Reads an OpenAPI document (3.0, 3.1, or Swagger 2.0; JSON or YAML), or all documents of a folder in the order of their names.
 * @throws Error for a file that is no such document
 */
export async function readOpenApi(fileOrFolder: string): Promise<readonly Described[]> {
  const isFolder = (await stat(fileOrFolder)).isDirectory();
  const names = isFolder ? (await readdir(fileOrFolder, { recursive: true })).sort() : [''];
  const files = names.filter((name) => !isFolder || /\.(?:json|ya?ml)$/.test(name));
  if (files.length === 0) throw new Error(`${fileOrFolder} has no .json, .yaml or .yml file.`);
  return Promise.all(files.map((name) => readDocument(join(fileOrFolder, name))));
}

async function readDocument(file: string): Promise<Described> {
  const text = await readFile(file, 'utf8');
  const document: unknown = refersToFiles(text) ? await bundleDocument(file) : parse(text, file);
  if (!isObject(document) || !isObject(document.paths)) {
    throw new Error(`${file} is not an OpenAPI document: it has no paths.`);
  }
  return describeOpenApi(document, basename(file, extname(file)));
}

function parse(text: string, file: string): unknown {
  return extname(file) === '.json' ? JSON.parse(text) : load(text);
}

function refersToFiles(text: string): boolean {
  return /['"]?\$ref['"]?\s*:\s*['"]?[^#'"\s]/.test(text);
}

/** Reads a document together with the files that it refers to. Few providers have such documents, and the bundler takes time to load. */
async function bundleDocument(file: string): Promise<unknown> {
  const { bundle, createConfig } = await import('@redocly/openapi-core');
  // Only the bundling is wanted: a provider's document is used as it is, however it would be judged.
  const { bundle: bundled, problems } = await bundle({ ref: file, config: await createConfig({}) });
  const unresolved = problems.find(({ severity }) => severity === 'error');
  if (unresolved !== undefined) throw new Error(`${file}: ${unresolved.message}`);
  return bundled.parsed;
}

/** Returns the operations and schemas of a bundled document. */
export function describeOpenApi(document: JsonObject, name: string): Described {
  const info = isObject(document.info) ? document.info : {};
  const components = isObject(document.components) ? document.components : {};
  const definitions = membersOf(document.definitions ?? components.schemas);
  const read: Reader = {
    resolve: (value) => resolve(document, value),
    schema: (value) => toJsonSchema(value, nameOfReference),
  };
  return {
    name,
    title: String(info.title ?? name),
    version: String(info.version ?? ''),
    ...serverOf(document),
    security: securityOf(components.securitySchemes ?? document.securityDefinitions),
    operations: Object.fromEntries(
      Object.entries(membersOf(document.paths)).flatMap(([path, item]) => readPath(path, item, read)),
    ),
    schemas: Object.fromEntries(Object.entries(definitions).map(([key, value]) => [key, read.schema(value)])),
  };
}

function serverOf({ servers, schemes, host, basePath }: JsonObject): Pick<Described, 'server'> {
  const [first] = Array.isArray(servers) ? servers : [];
  if (isObject(first) && typeof first.url === 'string') return { server: first.url };
  if (typeof host !== 'string') return {};
  const [scheme] = Array.isArray(schemes) ? schemes : [];
  return { server: `${scheme ?? 'https'}://${host}${basePath ?? ''}` };
}

/** Returns `oauth2`, `http bearer` or `apiKey in header x-key`. */
function securityOf(schemes: unknown): readonly string[] {
  const words = Object.values(membersOf(schemes)).map((scheme) => {
    const { type, scheme: http, in: place, name } = membersOf(scheme);
    return [type, http, place && 'in', place, place && name].filter((word) => word !== undefined).join(' ');
  });
  return [...new Set(words)];
}

interface Reader {
  readonly resolve: (value: unknown) => JsonObject;
  readonly schema: (value: unknown) => JsonSchema;
}

function nameOfReference(reference: string): string {
  const [, name] = /^#\/(?:components\/schemas|definitions)\/([^/]+)$/.exec(reference) ?? [];
  if (name === undefined) throw new Error(`The reference '${reference}' leads to no named schema.`);
  return decodePointer(name);
}

function decodePointer(token: string): string {
  return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Follows a reference to a parameter, a response or a body. */
function resolve(document: JsonObject, value: unknown): JsonObject {
  const { $ref } = membersOf(value);
  if (typeof $ref !== 'string') return membersOf(value);
  const tokens = $ref.replace(/^#\//, '').split('/').map(decodePointer);
  return resolve(
    document,
    tokens.reduce<unknown>((at, token) => membersOf(at)[token], document),
  );
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

function readPath(path: string, item: unknown, read: Reader): readonly (readonly [string, OfficialOperation])[] {
  const members = read.resolve(item);
  return METHODS.flatMap((method) => {
    const operation = members[method];
    if (!isObject(operation)) return [];
    const parameters = [members.parameters, operation.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
    return [[`${method.toUpperCase()} ${path}`, readOperation(operation, parameters.map(read.resolve), read)]];
  });
}

function readOperation(operation: JsonObject, parameters: readonly JsonObject[], read: Reader): OfficialOperation {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const responses = Object.entries(membersOf(operation.responses)).filter(([status]) => /^2|^default$/.test(status));
  return {
    ...(query.length > 0 && {
      query: Object.fromEntries(query.map((each) => [String(each.name), readQuery(each, read)])),
    }),
    ...readBody(operation, parameters, read),
    responses: Object.fromEntries(
      responses.map(([status, response]) => [status, readContent(read.resolve(response), read)?.schema ?? {}]),
    ),
  };
}

function readQuery(parameter: JsonObject, read: Reader): JsonSchema {
  // Swagger 2.0 writes the members of the schema into the parameter itself.
  const schema = read.schema(parameter.schema ?? parameter);
  return typeof schema === 'object' && parameter.required === true ? { ...schema, required: true } : schema;
}

function readBody(operation: JsonObject, parameters: readonly JsonObject[], read: Reader): Partial<OfficialOperation> {
  if (operation.requestBody !== undefined) return bodyOf(readContent(read.resolve(operation.requestBody), read));
  const body = parameters.find((parameter) => parameter.in === 'body');
  if (body !== undefined) return { body: read.schema(body.schema) };
  const form = parameters.filter((parameter) => parameter.in === 'formData');
  if (form.length === 0) return {};
  const required = form.flatMap((each) => (each.required === true ? [each.name] : []));
  return {
    content: form.some(({ type }) => type === 'file') ? 'multipart/form-data' : 'application/x-www-form-urlencoded',
    body: {
      type: 'object',
      properties: Object.fromEntries(form.map((each) => [String(each.name), read.schema(each)])),
      ...(required.length > 0 && { required }),
    },
  };
}

interface Content {
  readonly type: string;
  readonly schema: JsonSchema;
}

function bodyOf(content: Content | undefined): Partial<OfficialOperation> {
  if (content === undefined) return {};
  return { ...(!isJson(content.type) && { content: content.type }), body: content.schema };
}

/** Returns the JSON form of a body or a response where it has several. */
function readContent(body: JsonObject, read: Reader): Content | undefined {
  if (body.schema !== undefined) return { type: 'application/json', schema: read.schema(body.schema) };
  const types = Object.entries(membersOf(body.content));
  const [type, media] = types.find(([name]) => isJson(name)) ?? types[0] ?? [];
  if (type === undefined || !isObject(media) || media.schema === undefined) return undefined;
  return { type, schema: read.schema(media.schema) };
}

function isJson(type: string): boolean {
  return /^\*\/\*|[/+]json\b/.test(type);
}
