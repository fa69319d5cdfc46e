import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Fault, fault } from '../fault.ts';
import { nestedValues } from '../nested.ts';
import type { SimulatedResponse } from '../response.ts';
import { type Call, createRouteFinder } from '../route.ts';
import { closeSchemas, type JsonSchema, type OfficialDescription, type OfficialOperation } from './description.ts';

/** A place where the provider differs from its own description, as far as sources show. */
export type Deviation = { readonly reason: string } & (
  | {
      /** A method and a path template. Those that the description has, or one that it lacks. */
      readonly operation: string;
      readonly unjudged?: readonly JudgedPart[];
      /** Responses by status that the description lacks. */
      readonly responses?: OfficialOperation['responses'];
    }
  | {
      readonly schema: string;
      /** Returns the schema as the provider follows it. */
      readonly change: (schema: JsonSchema) => JsonSchema;
    }
);

/** Returns the deviations of operations that the description lacks, such as those of a log-in. */
export function undescribed(reason: string, ...operations: readonly string[]): readonly Deviation[] {
  return operations.map((operation) => ({ operation, unjudged: ['query', 'body', 'response'], reason }));
}

/** A part of an exchange. `errors` are responses from 400 on, and `response` is any. */
export type JudgedPart = 'query' | 'body' | 'response' | 'errors';

/** The judge of a simulator: the official description of its provider, which knows neither the connector nor the simulator. */
export interface OfficialJudge {
  /**
   * Checks the operation, the query and the body.
   * @throws Fault 400 that names the contradiction
   */
  readonly judgeRequest: (call: Call) => void;
  /**
   * Checks the status and the body.
   * @throws Fault 500 that names the contradiction, which is a defect of the simulator
   */
  readonly judgeResponse: (call: Pick<Call, 'method' | 'path'>, response: SimulatedResponse) => void;
  /** Returns the contradictions since the last call. */
  readonly takeContradictions: () => readonly string[];
}

/** The code of a request that the official description does not allow. */
export const CONTRADICTS_DESCRIPTION = 'CONTRADICTS_OFFICIAL_DESCRIPTION';

const ROOT = 'https://official.invalid/';

/** Creates a judge. `toDescribed` returns the path of the description for a path of the provider. Default: they are the same. */
export type CreateOfficialJudge = (toDescribed?: (path: string) => string) => OfficialJudge;

/**
 * Returns a function that creates judges. Objects may have only the members that the description names. Each schema is compiled when a
 * judge first uses it, for all judges.
 * @throws Error (the function) for a deviation from a schema that does not exist
 */
export function createOfficialJudges(
  official: OfficialDescription,
  deviations: readonly Deviation[] = [],
): CreateOfficialJudge {
  let prepared: Prepared | undefined;
  return (toDescribed) => {
    prepared ??= prepare(official, deviations);
    return createJudge(official, prepared, toDescribed);
  };
}

type Prepared = ReturnType<typeof prepare>;

function prepare(official: OfficialDescription, deviations: readonly Deviation[]) {
  const schemas = closeSchemas(deviate(official.schemas, deviations));
  const ofOperations = deviations.filter((each) => 'operation' in each);
  const unjudged = new Map<string, readonly JudgedPart[]>();
  const operations = { ...official.operations };
  for (const { operation, unjudged: parts = [], responses } of ofOperations) {
    unjudged.set(operation, [...(unjudged.get(operation) ?? []), ...parts]);
    const described = operations[operation];
    if (described === undefined || responses === undefined) continue;
    operations[operation] = { ...described, responses: { ...described.responses, ...responses } };
  }
  const find = createRouteFinder([...new Set([...Object.keys(operations), ...unjudged.keys()])]);
  // Values of a query and of a form are texts.
  const validators = { json: createValidators(schemas, false), text: createValidators(schemas, 'array') } as const;
  return { operations, unjudged, find, validators };
}

/**
 * Number of the last correct bodies that are not judged again. A caller that filters by itself asks for one listing again and again, and to
 * validate its rows takes longer than to print them.
 */
const MOST_KNOWN = 8;

function createJudge(
  { version }: OfficialDescription,
  { operations, unjudged, find: findDescribed, validators }: Prepared,
  toDescribed: (path: string) => string = (path) => path,
): OfficialJudge {
  const find = ({ method, path }: Pick<Call, 'method' | 'path'>) => findDescribed({ method, path: toDescribed(path) });
  const contradictions: string[] = [];
  const known: { readonly id: string; readonly body: SimulatedResponse['body'] }[] = [];

  function isKnown(id: string, body: SimulatedResponse['body']): boolean {
    return known.some((each) => each.body === body && each.id === id);
  }

  function contradict(what: string, why: string): string {
    const message = `${what} contradicts the official description (${version}): ${why}`;
    contradictions.push(message);
    return message;
  }

  function isJudged(key: string, part: JudgedPart): boolean {
    return unjudged.get(key)?.includes(part) !== true;
  }

  function reasonAgainst(call: Call): string | undefined {
    const key = find(call);
    if (key === undefined) return 'it has no such operation.';
    const { query = {}, body, content = 'application/json' } = operations[key] ?? {};
    if (isJudged(key, 'query')) {
      const values = nestedValues(call.query, query);
      const reason = validators.text(`${key} query`, () => schemaOfQuery(query))(values);
      if (reason !== undefined) return `query: ${reason}`;
    }
    if (!isJudged(key, 'body')) return undefined;
    if (body === undefined) return call.body.bytes.length === 0 ? undefined : 'it has no body.';
    if (call.body.type !== content) return `the body is not ${content}.`;
    const isForm = content === 'application/x-www-form-urlencoded';
    // Parts and bytes have no schema that tells more than their type.
    if (!isForm && content !== 'application/json') return undefined;
    const sent = isForm ? nestedValues(call.body.form(), {}) : call.body.json();
    const reason = validators[isForm ? 'text' : 'json'](`${key} body ${isForm}`, () => body)(sent);
    return reason === undefined ? undefined : `body: ${reason}`;
  }

  return {
    judgeRequest: (call) => {
      const reason = reasonAgainst(call);
      if (reason === undefined) return;
      const message = contradict(`The request ${call.method} ${call.path}${call.search}`, reason);
      throw new Fault(400, CONTRADICTS_DESCRIPTION, message);
    },
    judgeResponse: (call, { status = 200, body, stream }) => {
      const key = find(call);
      const { responses } = (key === undefined ? undefined : operations[key]) ?? {};
      if (key === undefined || responses === undefined || stream !== undefined || !isJudged(key, 'response')) return;
      if (status >= 400 && !isJudged(key, 'errors')) return;
      const what = `The simulator's response ${status} to ${call.method} ${call.path}`;
      const name = [String(status), 'default'].find((each) => Object.hasOwn(responses, each));
      // Some descriptions have no errors.
      if (name === undefined && status >= 400) return;
      if (name === undefined) throw fault(500, contradict(what, 'it has no such status.'));
      const schema = responses[name] ?? {};
      if (Object.keys(schema).length === 0) return;
      const id = `${key} ${name}`;
      if (isKnown(id, body)) return;
      const reason = validators.json(id, () => schema)(readJson(body));
      if (reason !== undefined) throw fault(500, contradict(what, reason));
      known.push({ id, body });
      if (known.length > MOST_KNOWN) known.shift();
    },
    takeContradictions: () => contradictions.splice(0),
  };
}

type Validators = (id: string, schemaOf: () => JsonSchema) => (value: unknown) => string | undefined;

/** Schemas are compiled more often than their code is worth to be optimized. */
const FAST = { inlineRefs: false, code: { optimize: false } } as const;

function createValidators(schemas: OfficialDescription['schemas'], coerceTypes: false | 'array'): Validators {
  // Descriptions have formats of their own, such as `decimal`, which are not checked.
  const ajv = new Ajv2020({ strict: false, coerceTypes, validateSchema: false, logger: false, ...FAST });
  addFormats.default(ajv);
  // Each has an address of its own, so that it is compiled once for all operations.
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema(addressed(schema), addressOf(name));
  const compiled = new Map<string, ValidateFunction>();
  return (id, schemaOf) => (value) => {
    const validate = compiled.get(id) ?? ajv.compile(addressed(closed(schemaOf())));
    compiled.set(id, validate);
    return validate(value) ? undefined : printError(validate.errors?.[0]);
  };
}

function closed(schema: JsonSchema): JsonSchema {
  return closeSchemas({ inline: schema }).inline ?? schema;
}

const REFERENCE = '#/schemas/';

function addressOf(name: string): string {
  return ROOT + encodeURIComponent(name);
}

/** Returns a schema whose references are addresses. */
function addressed(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (name, value) =>
    name === '$ref' && typeof value === 'string' ? addressOf(value.slice(REFERENCE.length)) : value,
  );
}

function deviate(schemas: OfficialDescription['schemas'], deviations: readonly Deviation[]) {
  const changed: Record<string, JsonSchema> = { ...schemas };
  for (const deviation of deviations) {
    if (!('schema' in deviation)) continue;
    const schema = changed[deviation.schema];
    if (schema === undefined) throw new Error(`The official description has no schema '${deviation.schema}'.`);
    changed[deviation.schema] = deviation.change(schema);
  }
  return changed;
}

function schemaOfQuery(query: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const properties = Object.entries(query).map(([name, { required: _, ...schema }]) => [name, schema]);
  const required = Object.entries(query).flatMap(([name, schema]) => (schema.required === true ? [name] : []));
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

function readJson(body: SimulatedResponse['body']): unknown {
  if (body === undefined || body.length === 0) return undefined;
  const text = typeof body === 'string' ? body : Buffer.from(body).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function printError(error: ErrorObject | undefined): string {
  const { instancePath = '', message = 'it is not valid', params = {} } = error ?? {};
  const { unevaluatedProperty, additionalProperty = unevaluatedProperty, allowedValues } = params;
  const details = additionalProperty ?? (Array.isArray(allowedValues) ? allowedValues.join(', ') : undefined);
  return `${instancePath === '' ? 'it' : instancePath} ${message}${details === undefined ? '' : `: ${details}`}`;
}
