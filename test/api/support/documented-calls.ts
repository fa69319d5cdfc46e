import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One call as the reference prefills it: every parameter with its example, and one of the examples of the body. */
export interface DocumentedCall {
  readonly operationId: string;
  readonly method: string;
  /** The path with its parameters and query, below the address that `servers` names. */
  readonly url: string;
  /** It is below the base path. */
  readonly belowBase: boolean;
  /** The names of the security schemes, any of which is enough. */
  readonly security: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly expected: readonly string[];
  /** The examples of the answer as JSON, none where there are none. */
  readonly answers: readonly unknown[];
}

type Json = Readonly<Record<string, unknown>>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const document: Json = JSON.parse(readFileSync(join(import.meta.dirname, '../../../generated/openapi.json'), 'utf8'));

/** In the order of the document. */
export function documentedCalls(): readonly DocumentedCall[] {
  return Object.entries(members(document.paths)).flatMap(([path, item]) =>
    Object.entries(members(item))
      .filter(([method]) => METHODS.includes(method))
      .flatMap(([method, operation]) => callsOf(path, method, members(item), members(operation))),
  );
}

function callsOf(path: string, method: string, item: Json, operation: Json): readonly DocumentedCall[] {
  const parameters = [...list(item.parameters), ...list(operation.parameters)].map(resolve);
  const given = parameters.flatMap((parameter) => {
    const [value] = examplesOf(parameter);
    return value === undefined ? [] : [{ name: String(parameter.name), place: parameter.in, value: String(value) }];
  });
  const query = new URLSearchParams(
    Object.fromEntries(given.filter(({ place }) => place === 'query').map(({ name, value }) => [name, value])),
  );
  const inPath = new Map(given.filter(({ place }) => place === 'path').map(({ name, value }) => [name, value]));
  const responses = members(operation.responses);
  const shared = {
    operationId: String(operation.operationId),
    method: method.toUpperCase(),
    url: `${path.replace(/\{(\w+)\}/g, (_, name) => inPath.get(name) ?? '')}${query.size > 0 ? `?${query}` : ''}`,
    belowBase: !('servers' in item),
    security: list(operation.security).flatMap((scheme) => Object.keys(scheme)),
    headers: Object.fromEntries(
      given.filter(({ place }) => place === 'header').map(({ name, value }) => [name, value]),
    ),
    expected: Object.keys(responses),
    answers: answersOf(responses['200']),
  };
  return bodiesOf(operation.requestBody).map((body) => ({ ...shared, body }));
}

/** The parameters that a call cannot do without and that have no example. */
export function parametersWithoutExample(): readonly string[] {
  return Object.values(members(members(document.components).parameters))
    .map(members)
    .filter((parameter) => parameter.required === true && examplesOf(parameter).length === 0)
    .map(({ name }) => String(name));
}

function bodiesOf(requestBody: unknown): readonly (string | undefined)[] {
  if (requestBody === undefined) return [undefined];
  const bodies = Object.values(members(members(requestBody).content)).flatMap((media) => mediaExamples(members(media)));
  return bodies.map((body) => (typeof body === 'string' ? body : JSON.stringify(body)));
}

function answersOf(response: unknown): readonly unknown[] {
  if (response === undefined) return [];
  const json = members(resolve(response).content)['application/json'];
  return json === undefined ? [] : mediaExamples(members(json));
}

/** Its own examples, or else that of its schema. */
function mediaExamples(media: Json): readonly unknown[] {
  const own = examplesOf(media);
  return own.length > 0 ? own : examplesOf(resolve(media.schema));
}

function examplesOf(node: Json): readonly unknown[] {
  if ('example' in node) return [node.example];
  return Object.values(members(node.examples)).map((example) => resolve(example).value);
}

function resolve(node: unknown): Json {
  const { $ref } = members(node);
  if (typeof $ref !== 'string') return members(node);
  return $ref
    .slice(2)
    .split('/')
    .reduce((found: Json, name) => members(found[name]), document);
}

function members(node: unknown): Json {
  return typeof node === 'object' && node !== null ? { ...node } : {};
}

function list(node: unknown): readonly Json[] {
  return Array.isArray(node) ? node.map(members) : [];
}

/** The value of one of the document's own examples. */
export function exampleNamed(name: string): unknown {
  return members(members(members(document.components).examples)[name]).value;
}

/** The names of the examples that answers of a schema have. */
export function exampleNamesOf(schema: string): readonly string[] {
  const responses = Object.values(members(members(document.components).responses)).map(members);
  const media = responses.map((response) => members(members(response.content)['application/json']));
  const shown = media.filter((each) => members(each.schema).$ref === `#/components/schemas/${schema}`);
  return [...new Set(shown.flatMap((each) => Object.keys(members(each.examples))))];
}
