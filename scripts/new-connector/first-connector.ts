import { fieldsOf } from '../../src/connector/kit/official.ts';
import type { JsonSchema, OfficialDescription, OfficialOperation } from '../../src/connector/simulator/index.ts';
import { type Choices, idOf, titleOf } from './choices.ts';
import { AUTH, SETTINGS } from './connector.ts';
import { importList } from './import-list.ts';
import type { Described } from './official.ts';
import { isObject } from './schemas.ts';

/** A first connector from an official description. */
export interface FirstConnector {
  /** The source of `index.ts`. */
  readonly source: string;
  /** Facts that the description lacks, one sentence each. */
  readonly unknown: readonly string[];
}

/** Writes the objects that the description lists, with their fields and operations. */
export function firstConnector(
  choices: Choices,
  official: OfficialDescription,
  documents: readonly Described[],
): FirstConnector {
  const resources = withOwnNames(Object.keys(official.operations).flatMap((name) => findResource(official, name)));
  const written = resources.map((resource) => writeObject(official, resource));
  const server = URL.parse(documents.find(({ server }) => server !== undefined)?.server ?? '');
  const host = server?.host ?? `api.${choices.key}.example`;
  const names = new Set(written.flatMap(({ imports }) => imports));
  const isKey = choices.auth !== 'oauth2';
  const imports = ['defineConnector', 'defineObject', 'errors', 'json', ...names];
  const source = `import {
${importList([...new Set([...imports, ...(isKey ? ['type ConfigField', 'settings'] : [])])])}
} from '#connector';
import official from './official.json' with { type: 'json' };

const HOST = '${host}';
${SETTINGS[choices.auth]}
${written.map(({ text }) => text).join('\n')}
/** ${titleOf(choices.key)}. Facts and their sources: README.md. */
export default defineConnector({
  key: '${choices.key}',
  id: ${idOf(choices.key)},
  contract: 1,
  name: '${titleOf(choices.key)}',
  description: '${resources.map(({ name }) => name).join(', ')}.',
  hub: 'general',
  auth: ${AUTH[choices.auth]},
  configuration: ${isKey ? 'CONFIGURATION' : '[]'},
  baseUrl: () => \`https://\${HOST}${server?.pathname.replace(/\/$/, '') ?? ''}\`,
  hosts: [HOST],
  probe: { path: '${resources[0]?.path ?? '/'}' },
  classify: errors({ message: ({ body }) => json.findText(json.at(body, 'message')) }),
  objects: { ${resources.map(({ name }) => (variableOf(name) === name ? name : `${keyOf(name)}: ${variableOf(name)}`)).join(', ')} },
});
`;
  return {
    source,
    unknown: [...written.flatMap(({ unknown }) => unknown), ...unknownOf(choices, official, documents)],
  };
}

function unknownOf(
  choices: Choices,
  official: OfficialDescription,
  documents: readonly Described[],
): readonly string[] {
  const left = Object.keys(official.operations).filter((name) =>
    /^GET .*\}\/[^{]*$|^GET [^{]*\{[^}]*\}\/.*\{/.test(name),
  );
  const security = [...new Set(documents.flatMap((document) => document.security))];
  return [
    `Authentication: the connector has \`${choices.auth}\`, and the description has ${security.join(', ') || 'nothing about it'}.`,
    'The request that shows whether credentials are right: `probe` lists the first object.',
    'The errors of the provider: `classify` reads the member `message`.',
    'How changes are found, and webhooks.',
    'Limits of calls, and the headers that report them.',
    ...left.map((name) => `Lists below a record, or objects by their type: \`${name}\` is not used.`),
  ];
}

/** A list of the description, with the operations on its records. */
interface Resource {
  readonly name: string;
  readonly path: string;
  readonly list: OfficialOperation;
  /** The member of the response that holds the rows. Undefined: the response itself is the list. */
  readonly member: string | undefined;
  readonly schema: string;
  /** The path of a record up to its id. Undefined: there are no single records. */
  readonly record: string | undefined;
}

/** Lists whose paths end in the same word have names of more words: `tickets` and `incremental_tickets`. */
function withOwnNames(resources: readonly Resource[]): readonly Resource[] {
  const taken = new Set<string>();
  return resources.map((resource) => {
    const words = resource.path.split('/').filter((word) => word !== '');
    const names = words.map((_, index) => [...words.slice(words.length - 1 - index, -1), resource.name].join('_'));
    const name = names.find((each) => !taken.has(each)) ?? `${resource.name}_${taken.size}`;
    taken.add(name);
    return { ...resource, name };
  });
}

function findResource(official: OfficialDescription, name: string): readonly Resource[] {
  const [method, path = ''] = name.split(' ');
  const list = official.operations[name];
  if (method !== 'GET' || path.includes('{') || list === undefined) return [];
  const rows = rowsOf(list.responses['200'] ?? {}, official);
  if (rows === undefined) return [];
  const word = path.split('/').findLast((segment) => segment !== '') ?? 'records';
  const record = Object.keys(official.operations)
    .map((each) => each.split(' ')[1] ?? '')
    .find((each) => each.startsWith(`${path}/`) && /^\{[^}]+\}$/.test(each.slice(path.length + 1)));
  return [{ name: word.replace(/\.json$/, ''), path, list, ...rows, record }];
}

const REFERENCE = '#/schemas/';

function resolve(schema: unknown, official: OfficialDescription): JsonSchema {
  if (!isObject(schema) || typeof schema.$ref !== 'string') return isObject(schema) ? schema : {};
  return resolve(official.schemas[schema.$ref.slice(REFERENCE.length)], official);
}

function rowsOf(response: JsonSchema, official: OfficialDescription): Pick<Resource, 'member' | 'schema'> | undefined {
  const whole = resolve(response, official);
  const itself = itemOf(whole);
  if (itself !== undefined) return { member: undefined, schema: itself };
  const members = isObject(whole) && isObject(whole.properties) ? Object.entries(whole.properties) : [];
  const lists = members.flatMap(([member, value]) => {
    const schema = itemOf(resolve(value, official));
    return schema === undefined ? [] : [{ member, schema }];
  });
  return lists.length === 1 ? lists[0] : undefined;
}

/** Returns the name of the schema of a list's items. */
function itemOf(schema: JsonSchema): string | undefined {
  return isObject(schema) && isObject(schema.items) ? nameOf(schema.items) : undefined;
}

function nameOf(schema: JsonSchema | undefined): string | undefined {
  return isObject(schema) && typeof schema.$ref === 'string' ? schema.$ref.slice(REFERENCE.length) : undefined;
}

interface Written {
  readonly text: string;
  /** The names that the text needs of `#connector`. */
  readonly imports: readonly string[];
  readonly unknown: readonly string[];
}

function writeObject(official: OfficialDescription, resource: Resource): Written {
  const { name, path, list, member, schema } = resource;
  const fields = Object.keys(fieldsOf(official, schema));
  const query = Object.entries(list.query ?? {});
  const paging = findPaging(query);
  const filters = query.map(([each]) => each).filter((each) => fields.includes(each) && !paging.names.includes(each));
  const single = writeRecords(official, resource);
  const id = fields.includes('id') ? undefined : fields.find((field) => /(^|_)id$|Id$/.test(field));
  const options = [
    ...Object.entries(single.bodies).map(([option, body]) => `${option}: '${body}'`),
    ...(filters.length === 0
      ? []
      : [`but: { ${filters.map((each) => `${keyOf(each)}: { filter: can.only('superset', '=') }`).join(', ')} }`]),
  ];
  const rows = member === undefined ? 'body' : `json.at(body, '${member}')`;
  const filter = filters.length === 0 ? '' : '...filter, ';
  const native = filters.length === 0 ? '' : '<Inputs>';
  const text = `export const ${variableOf(name)} = defineObject${native}({
  label: '${titleOf(name)}',${id === undefined ? '' : `\n  idField: '${id}',`}
  fields: fieldsOf(official, '${schema}'${options.length === 0 ? '' : `, { ${options.join(', ')} }`}),${
    filters.length === 0
      ? ''
      : `\n  translator: inputs({ ${filters.map((each) => `${keyOf(each)}: '${each}'`).join(', ')} }),`
  }
  list: list${native}({
    request: ({ ${filters.length === 0 ? '' : 'filter, '}page }) => ({ path: '${path}', query: { ${filter}...page } }),
    rows: (body) => json.array(${rows}, 'the rows'),
    paging: ${paging.text},
  }),${single.text}
});
`;
  const unknown = [
    ...(fields.includes('id')
      ? []
      : [
          `\`${name}\`: the id of a record. ${id === undefined ? 'No field has the name `id`' : `The connector has \`${id}\``}.`,
        ]),
    ...paging.unknown.map((each) => `\`${name}\`: ${each}`),
    ...filters.map(
      (each) =>
        `\`${name}\`: what its parameter \`${each}\` finds. The connector takes it for \`=\`, and checks the rows.`,
    ),
    ...query.flatMap(([each]) =>
      paging.names.includes(each) || filters.includes(each)
        ? []
        : [`\`${name}\`: its parameter \`${each}\` is not used.`],
    ),
    ...single.unknown.map((each) => `\`${name}\`: ${each}`),
  ];
  const imports = [
    'list',
    'fieldsOf',
    ...(filters.length === 0 ? [] : ['can', 'type Inputs', 'inputs']),
    ...single.imports,
  ];
  return { text, imports, unknown };
}

interface Records extends Written {
  /** The schemas of the bodies that create and change records. */
  readonly bodies: Readonly<Record<string, string>>;
}

function writeRecords(official: OfficialDescription, { path, record }: Resource): Records {
  const has = (method: string, at: string) => official.operations[`${method} ${at}`];
  if (record === undefined || has('GET', record) === undefined)
    return { text: '', imports: [], unknown: ['there is no request for one record.'], bodies: {} };
  const change = ['PATCH', 'PUT', 'POST'].find((method) => has(method, record) !== undefined);
  const [created, updated] = [nameOf(has('POST', path)?.body), change && nameOf(has(change, record)?.body)];
  const at = `path\`${path}/\${id}\``;
  const lines = [
    `get: (id) => ({ path: ${at} }),`,
    ...(created === undefined
      ? []
      : [`create: { request: (values) => ({ method: 'POST', path: '${path}', json: values }) },`]),
    ...(updated === undefined ? [] : [`update: (id, values) => ({ method: '${change}', path: ${at}, json: values }),`]),
    ...(has('DELETE', record) === undefined ? [] : [`remove: (id) => ({ method: 'DELETE', path: ${at} }),`]),
  ];
  return {
    text: `\n  ...records({\n    ${lines.join('\n    ')}\n  }),`,
    imports: ['path', 'records'],
    bodies: { ...(created !== undefined && { create: created }), ...(updated !== undefined && { update: updated }) },
    unknown: [
      ...(has('POST', path) !== undefined && created === undefined
        ? ['the body that creates a record has no named schema.']
        : []),
      ...(change !== undefined && updated === undefined ? ['the body that changes a record has no named schema.'] : []),
    ],
  };
}

/** Names of paging parameters that many providers have. */
const SIZES = ['limit', 'page_size', 'pageSize', 'per_page', 'perPage', 'count', 'size', 'max_results', 'maxResults'];
const STARTS = {
  cursor: ['after', 'cursor', 'page_token', 'pageToken', 'starting_after', 'page_info'],
  offset: ['offset', 'start', 'skip', 'startAt'],
  number: ['page', 'page_number', 'pageNumber'],
} as const;

interface FoundPaging {
  readonly text: string;
  readonly names: readonly string[];
  readonly unknown: readonly string[];
}

function findPaging(query: readonly (readonly [string, JsonSchema])[]): FoundPaging {
  const find = (words: readonly string[]) => query.find(([name]) => words.includes(name))?.[0];
  const size = find(SIZES);
  const [kind, start] = Object.entries(STARTS)
    .map(([each, words]) => [each, find(words)] as const)
    .find(([, name]) => name !== undefined) ?? [undefined, undefined];
  if (kind === undefined || start === undefined || (size === undefined && kind !== 'cursor')) {
    return {
      text: "{ kind: 'whole' }",
      names: [],
      unknown: ['its paging. The connector reads all rows by one request.'],
    };
  }
  const schema = query.find(([name]) => name === size)?.[1];
  const most = isObject(schema) && typeof schema.maximum === 'number' ? schema.maximum : undefined;
  const parameter = kind === 'number' ? 'page' : kind;
  const next = kind === 'cursor' ? ", next: ({ body }) => json.at(body, 'next')" : '';
  return {
    text: `{ kind: '${kind}', ${parameter}: '${start}',${size === undefined ? '' : ` size: '${size}',`} max: ${most ?? 100}${next} }`,
    names: [start, ...(size === undefined ? [] : [size])],
    unknown: [
      ...(kind === 'cursor'
        ? ['the member of its response that has the next cursor. The connector reads `next`.']
        : []),
      ...(most === undefined ? ['the largest page. The connector requests up to 100 rows.'] : []),
    ],
  };
}

function isName(text: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(text);
}

function keyOf(name: string): string {
  return isName(name) ? name : `'${name}'`;
}

function variableOf(name: string): string {
  const words = name.split(/[^A-Za-z0-9_]+/).filter((word) => word !== '');
  const joined = words.map((word, index) => (index === 0 ? word : titleOf(word))).join('');
  if (/^\d/.test(joined)) return `_${joined}`;
  return TAKEN.test(joined) ? `${joined}Object` : joined;
}

/** Words of the language, and names that the connector imports. */
const TAKEN =
  /^(?:await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|official|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|var|void|while|with|yield|can|errors|fieldsOf|inputs|json|list|path|records|settings)$/;
