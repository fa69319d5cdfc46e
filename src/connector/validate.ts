import { canonicalDecimal, compareDecimals } from '../numbers/decimal.ts';
import { DECIMAL_TEXT } from '../numbers/number-value.ts';
import type { Operator } from '../where/ast.ts';
import type { FieldSpec, FieldType, Translator } from '../where/model.ts';
import { matchesHost } from './client/url.ts';
import type { Config, Connector, ObjectSpec, Objects } from './contract.ts';
import { hubsOf } from './define.ts';
import { catalogueProblems } from './validate-catalogue.ts';
import { oauthProblems } from './validate-oauth.ts';
import { webhookProblems } from './validate-webhooks.ts';

/** A connector that must not be used; `problems` is complete. */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`A connector is not usable:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const CONSTRUCT_OF: Readonly<Record<Operator, keyof Translator<unknown>>> = {
  '=': 'compare',
  '!=': 'compare',
  '<': 'compare',
  '<=': 'compare',
  '>': 'compare',
  '>=': 'compare',
  IN: 'in',
  'NOT IN': 'in',
  LIKE: 'like',
  'NOT LIKE': 'like',
  'IS NULL': 'isNull',
  'IS NOT NULL': 'isNull',
};

/** Every problem of a set of connectors, each text beginning with the connector's key. */
export function findProblems(connectors: readonly Connector[]): readonly string[] {
  return [...connectors.flatMap(connectorProblems), ...doubles(connectors, 'key'), ...doubles(connectors, 'id')];
}

function doubles(connectors: readonly Connector[], property: 'key' | 'id'): readonly string[] {
  const values = connectors.map((connector) => connector[property]);
  return connectors.flatMap(({ key, [property]: value }, index) =>
    when(values.indexOf(value) !== index, `${key}: the ${property} ${value} belongs to another connector already`),
  );
}

function connectorProblems(connector: Connector): readonly string[] {
  const problems = [
    ...identityProblems(connector),
    ...catalogueProblems(connector),
    ...configurationProblems(connector),
    ...hostProblems(connector),
    ...oauthProblems(connector),
    ...exchangeProblems(connector),
    ...webhookProblems(connector),
  ];
  const objects =
    typeof connector.objects === 'function'
      ? []
      : [
          ...when(connector.operations !== undefined, "'operations' is for discovered objects: its objects tell them"),
          ...findObjectProblems(connector.objects),
        ];
  return [...problems, ...objects].map((problem) => `${connector.key}: ${problem}`);
}

function identityProblems(connector: Connector): readonly string[] {
  return [
    ...when(
      !/^[a-z][a-z0-9]*$/.test(connector.key),
      'the key is lower-case letters and digits, beginning with a letter',
    ),
    ...when(connector.key === 'keys', "the key 'keys' belongs to the platform: GET /elements/keys lists all keys"),
    ...when(!Number.isSafeInteger(connector.id) || connector.id < 1, 'the id is a whole number from 1'),
    ...when(connector.name.trim() === '', 'the name is empty'),
    ...when(
      hubsOf(connector).some((hub) => hub.trim() === ''),
      'a hub is empty',
    ),
    ...when(new Set(hubsOf(connector)).size < hubsOf(connector).length, 'it is in a hub twice'),
  ];
}

/** Keys that the platform gives a meaning of its own for every element. */
const RESERVED_KEYS = /^(?:simulator$|authentication\.type$|oauth\.)/;

function configurationProblems({ configuration }: Connector): readonly string[] {
  const keys = configuration.map((field) => field.key);
  return configuration.flatMap((field, index) => [
    ...when(keys.indexOf(field.key) !== index, `the configuration key '${field.key}' is declared twice`),
    ...when(RESERVED_KEYS.test(field.key), `the configuration key '${field.key}' belongs to the platform`),
    ...when(field.required === true && field.default !== undefined, `'${field.key}' is required and has a default`),
  ]);
}

/** A key of an exchange that is required, or has a default, would be asked for although the other one is enough. */
function exchangeProblems({ auth, configuration }: Connector): readonly string[] {
  if (auth.type !== 'custom' || auth.exchange === undefined) return [];
  const { code, token } = auth.exchange;
  const isFit = (key: string) =>
    configuration.some(
      (field) =>
        field.key === key &&
        field.type === 'string' &&
        field.secret === true &&
        field.required !== true &&
        field.default === undefined,
    );
  return [
    ...when(code === token, `its exchange gives the '${token}' that it takes`),
    ...[code, token]
      .filter((key) => !isFit(key))
      .map((key) => `the key '${key}' of its exchange is not a secret text that is neither required nor has a default`),
  ];
}

function hostProblems({ hosts, baseUrl }: Connector): readonly string[] {
  if (typeof hosts === 'function') return [];
  const bad = hosts.filter((host) => !/^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?$/.test(host));
  if (hosts.length === 0) return ['it names no host'];
  if (bad.length > 0) return bad.map((host) => `'${host}' is not a host, as in api.example.com or *.example.com`);
  return addressProblems(baseUrl, hosts);
}

/**
 * A base address that no setting decides is wrong for everybody, and known now. One that reads settings is judged by those of each
 * instance.
 */
function addressProblems(baseUrl: Connector['baseUrl'], hosts: readonly string[]): readonly string[] {
  let readsSettings = false;
  const noSettings = <Answer>(answer: Answer) => {
    return () => {
      readsSettings = true;
      return answer;
    };
  };
  const traps = { get: noSettings(undefined), has: noSettings(false), ownKeys: noSettings([]) };
  const config = new Proxy<Config>({}, traps);
  try {
    const text = baseUrl(config);
    if (readsSettings) return [];
    const host = URL.parse(text)?.host;
    if (host === undefined) return [`its baseUrl '${text}' is not an address, as in https://api.example.com/v1`];
    return when(!matchesHost(host, hosts), `its baseUrl leads to ${host}, which is not one of its hosts`);
  } catch (error) {
    // Of settings that are missing here.
    if (readsSettings) return [];
    return [`its baseUrl fails: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** Problems of a connector's objects, declared or discovered; each text names object and field. */
export function findObjectProblems(objects: Objects): readonly string[] {
  const aliases = Object.values(objects).flatMap((object) => object.aliases ?? []);
  const doubled = aliases.filter((alias, index) => aliases.indexOf(alias) !== index);
  return [
    ...Object.entries(objects).flatMap(([name, object]) => objectProblems(name, object)),
    ...doubled.map((alias) => `two objects have the alias '${alias}'`),
  ];
}

/** One word, or two with a slash between them. */
const NAME = /^\w[\w.-]*(?:\/\w[\w.-]*)?$/;

function objectProblems(name: string, object: ObjectSpec): readonly string[] {
  const idField = object.idField ?? 'id';
  const byId = object.get ?? object.update ?? object.replace ?? object.remove ?? object.upload;
  const isField = (field: string) => Object.hasOwn(object.fields, field);
  const isOutline = object.describe !== undefined;
  const parameters = Object.keys(object.parameters ?? {});
  const required = (object.requiredFilters ?? []).filter((filter) => !isField(filter) && !parameters.includes(filter));
  const problems = [
    ...when(!NAME.test(name), 'the name does not fit a path'),
    ...(object.aliases ?? [])
      .filter((alias) => !NAME.test(alias))
      .map((alias) => `the alias '${alias}' does not fit a path`),
    ...when(
      byId !== undefined && !isField(idField) && !isOutline,
      `there is no field '${idField}' to identify a record`,
    ),
    ...when((object.list?.maxPageSize ?? 1) < 1, 'maxPageSize is below 1'),
    ...when((object.list?.pagesAtOnce ?? 1) < 1, 'pagesAtOnce is below 1'),
    ...when((object.limits?.resultWindow ?? 1) < 1, 'resultWindow is below 1'),
    ...required.map((filter) => `the required filter '${filter}' is neither a field nor a parameter`),
    ...parameters.filter(isField).map((parameter) => `the parameter '${parameter}' has the name of a field`),
    ...fieldAliasProblems(object),
    ...shapeProblems(object),
    ...mediaProblems(object),
    ...uploadProblems(object),
    ...changesProblems(object),
    ...nativeBulkProblems(object),
    ...Object.entries(object.fields).flatMap(([field, spec]) =>
      fieldProblems(spec, object.translator).map((problem) => `${field}: ${problem}`),
    ),
  ];
  const children = Object.entries(object.children ?? {}).flatMap(([child, spec]) => objectProblems(child, spec));
  return [...problems, ...children].map((problem) => `${name}: ${problem}`);
}

/** A name that means two things would mean the one of which the author did not think. */
function fieldAliasProblems({ fields, parameters = {} }: ObjectSpec): readonly string[] {
  const aliases = Object.entries(fields).flatMap(([field, spec]) =>
    Object.entries(spec.aliases ?? {}).map(([alias, equals]) => ({ field, alias, equals, type: spec.type })),
  );
  return aliases.flatMap(({ field, alias, equals, type }, index) => [
    ...when(!ALIAS.test(alias), `${field}: the alias '${alias}' is not a name that a filter can have`),
    ...when(Object.hasOwn(fields, alias), `${field}: the alias '${alias}' is the name of a field`),
    ...when(Object.hasOwn(parameters, alias), `${field}: the alias '${alias}' is the name of a parameter`),
    ...when(
      aliases.slice(0, index).some((other) => other.alias === alias),
      `${field}: the alias '${alias}' is one of another field, too`,
    ),
    ...when(
      isType(type) && !OPERATORS_OF[type].has(equals),
      `${field}: '=' of the alias '${alias}' means ${equals}, which no ${type} has`,
    ),
  ]);
}

/** As the language spells a field. */
const ALIAS = /^[A-Za-z_][\w.]*$/;

function shapeProblems({ shape, translator }: ObjectSpec): readonly string[] {
  if (translator === undefined || shape?.kind === 'none') return [];
  const joins = shape === undefined || shape.kind === 'and' ? (['and'] as const) : (['and', 'or'] as const);
  return joins.flatMap((join) => when(translator[join] === undefined, `its shape needs '${join}' in the translator`));
}

function mediaProblems({ media }: ObjectSpec): readonly string[] {
  if (media === undefined) return [];
  const bad = media.types.filter((type) => type !== '*' && !/^[a-z]+\/[a-z0-9.+-]+$/.test(type));
  const json = media.types.filter((type) => type.includes('json'));
  return [
    ...when(media.types.length === 0, 'its media has no type'),
    ...bad.map((type) => `'${type}' is not a media type in lower case without parameters`),
    ...json.map((type) => `the media type '${type}' is JSON, which is how records are answered`),
  ];
}

function uploadProblems({ upload, get }: ObjectSpec): readonly string[] {
  if (upload === undefined) return [];
  return [
    ...when(upload.create === undefined && upload.replace === undefined, 'its upload neither creates nor replaces'),
    ...when(get === undefined, 'its upload needs a get'),
  ];
}

function changesProblems({ changes, fields, list, describe }: ObjectSpec): readonly string[] {
  if (changes === undefined) return [];
  if (describe !== undefined)
    return when(
      Object.keys(changes).some((name) => name !== 'tells'),
      'its outline says more of changes than which it tells',
    );
  const { updated, created, overlapSeconds = 0, feed, tells } = changes;
  const missing = [updated, created].filter((name) => name !== undefined && !Object.hasOwn(fields, name));
  const isAsked = updated !== undefined && !missing.includes(updated);
  return [
    ...missing.map((name) => `its changes name '${name}', which is no field`),
    ...when(isAsked && fields[updated]?.filter?.['>='] === undefined, `its changes need '>=' on '${updated}'`),
    ...when(tells?.length === 0, 'its changes tell nothing'),
    ...when(updated !== undefined && list === undefined, 'its changes need a list'),
    ...when(updated === undefined && feed === undefined, 'its changes name neither a field nor a feed'),
    ...when(!(overlapSeconds >= 0 && overlapSeconds <= 86_400), 'overlapSeconds is not from 0 to 86,400'),
  ];
}

/** What does not fit a job goes by pages, or by single calls. */
function nativeBulkProblems({ bulk = {}, list, create, update, remove }: ObjectSpec): readonly string[] {
  const writes = { create: [create], update: [update], upsert: [create, update], delete: [remove] };
  const { query, ingest } = bulk;
  return [
    ...when(query !== undefined && list === undefined, 'bulk.query has no list beside it'),
    ...Object.entries(writes)
      .filter(([action, calls]) => Object.hasOwn(ingest?.actions ?? {}, action) && calls.includes(undefined))
      .map(
        ([action]) => `bulk.ingest takes '${action}', and the object has no such calls for single records beside it`,
      ),
  ];
}

const NULLS: readonly Operator[] = ['IS NULL', 'IS NOT NULL'];
const EQUALITIES: readonly Operator[] = [...NULLS, '=', '!=', 'IN', 'NOT IN'];
const COMPARISONS: readonly Operator[] = [...EQUALITIES, '<', '<=', '>', '>='];
const ALL_OPERATORS: readonly Operator[] = [...COMPARISONS, 'LIKE', 'NOT LIKE'];

/** What the language allows for each type of field. */
const OPERATORS_OF: Readonly<Record<FieldType, ReadonlySet<Operator>>> = {
  string: new Set(ALL_OPERATORS),
  number: new Set(COMPARISONS),
  integer: new Set(COMPARISONS),
  boolean: new Set(EQUALITIES),
  date: new Set(COMPARISONS),
  datetime: new Set(COMPARISONS),
  object: new Set(NULLS),
  array: new Set(NULLS),
};

function fieldProblems(field: FieldSpec, translator: Translator<unknown> | undefined): readonly string[] {
  if (!isType(field.type)) return [`the type '${field.type}' is none of ${Object.keys(OPERATORS_OF).join(', ')}`];
  const declared = Object.keys(field.filter ?? {});
  const operators = declared.filter(isOperator);
  const untranslated = operators.filter(
    (operator) => translator?.[CONSTRUCT_OF[operator]] === undefined && !isSpelledOut(operator, field, translator),
  );
  const meaningless = operators.filter((operator) => !OPERATORS_OF[field.type].has(operator));
  return [
    ...declared
      .filter((operator) => !isOperator(operator))
      .map((operator) => `the operator '${operator}' is none of ${ALL_OPERATORS.join(', ')}`),
    ...meaningless.map((operator) => `${operator} is declared, but no filter can use it on the type ${field.type}`),
    ...untranslated.map((operator) => `${operator} is declared, but the translator has no '${CONSTRUCT_OF[operator]}'`),
    ...when(field.collation !== undefined && field.type !== 'string', 'only text has a collation'),
    ...when(
      field.format === DECIMAL_TEXT && !NUMBERS.has(field.type) && field.type !== 'array',
      `only numbers and lists of them have the format ${DECIMAL_TEXT}`,
    ),
    ...when(
      field.range !== undefined && !isRange(field),
      'its range is not two canonical decimals of a number, the lower one first',
    ),
    ...domainProblems(field),
    ...when(field.likeForms !== undefined && field.filter?.LIKE === undefined, 'likeForms without LIKE'),
    ...when(field.likeExcept !== undefined && field.filter?.LIKE === undefined, 'likeExcept without LIKE'),
    ...when(field.required === true && field.createable !== true, 'it is required, but cannot be set on create'),
  ];
}

/** Connectors in JavaScript declare what no compiler has seen. */
function isType(type: string): type is FieldType {
  return Object.hasOwn(OPERATORS_OF, type);
}

function isOperator(operator: string): operator is Operator {
  return Object.hasOwn(CONSTRUCT_OF, operator);
}

/** A list becomes equalities where the translator has none. */
function isSpelledOut(operator: Operator, { filter }: FieldSpec, translator: Translator<unknown> | undefined): boolean {
  if (translator?.compare === undefined) return false;
  const equality = operator === 'IN' ? filter?.['='] : operator === 'NOT IN' ? filter?.['!='] : undefined;
  return equality !== undefined && equality === filter?.[operator];
}

const NUMBERS: ReadonlySet<FieldType> = new Set(['integer', 'number']);
const DAYS: ReadonlySet<FieldType> = new Set(['date', 'datetime']);

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)?$/;

/** `Date.parse` takes 30 February for 2 March. */
function isOnCalendar(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === text.slice(0, 10);
}

/** What a domain says and the type of its field does not have. */
function domainProblems({ type, values, filter = {}, domain = {} }: FieldSpec): readonly string[] {
  const { digits, rounded, first, last, step, text, closed } = domain;
  const counts = [...(digits === undefined ? [] : Object.values(digits)), ...(rounded === undefined ? [] : [rounded])];
  const ends = [first, last].filter((end) => end !== undefined);
  const form = type === 'date' ? DAY : INSTANT;
  return [
    ...when(counts.length > 0 && !NUMBERS.has(type), 'only numbers have a domain of digits'),
    ...when(
      counts.some((count) => !Number.isSafeInteger(count) || count < 0),
      'digits are counted in whole numbers',
    ),
    ...when(
      rounded !== undefined &&
        COMPARISONS.some((operator) => !NULLS.includes(operator) && filter[operator] === 'exact'),
      'what is rounded cannot be compared exactly',
    ),
    ...when(
      (ends.length > 0 || step !== undefined) && !DAYS.has(type),
      'only dates and instants have a first, a last and a step',
    ),
    ...when(
      ends.some((end) => !form.test(end) || !isOnCalendar(end)),
      `its first and last are written as ${type === 'date' ? 'yyyy-MM-dd' : 'yyyy-MM-ddTHH:mm:ssZ, or a date'}`,
    ),
    ...when(
      ends.length === 2 && Date.parse(ends[0] ?? '') > Date.parse(ends[1] ?? ''),
      'its last comes before its first',
    ),
    ...when((text !== undefined || closed !== undefined) && type !== 'string', 'only text has a domain of texts'),
    ...when(closed === true && (values ?? []).length === 0, 'its domain is closed, and there are no values'),
  ];
}

function isRange({ type, range = ['', ''] }: FieldSpec): boolean {
  const [least, most] = range;
  const isCanonical = range.every((bound) => bound !== '' && canonicalDecimal(bound) === bound);
  return NUMBERS.has(type) && isCanonical && compareDecimals(least, most) <= 0;
}

function when(condition: boolean, problem: string): readonly string[] {
  return condition ? [problem] : [];
}
