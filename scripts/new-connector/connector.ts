import { type Choices, idOf, titleOf } from './choices.ts';
import { importList } from './import-list.ts';

/** Returns the source of `index.ts` with one toy object, `notes`. */
export function connectorSource({ key, paging, filter, auth }: Choices): string {
  const isSorted = paging !== 'whole';
  const names = [
    'can',
    ...(auth === 'oauth2' ? [] : ['type ConfigField']),
    'defineConnector',
    'defineObject',
    'errors',
    ...FILTERS[filter].names,
    'json',
    'list',
    ...(paging === 'link' ? ['nextLink'] : []),
    'path',
    'records',
    ...(auth === 'oauth2' ? [] : ['settings']),
  ];
  const order = `
      order: { term: (native, direction) => \`\${native} \${direction}\`, id: 'id' },`;
  return `import {
${importList(names)}
} from '#connector';

const HOST = 'api.${key}.example';
${SETTINGS[auth]}
/** ${FILTERS[filter].comment} Source: the page of the provider's documentation that says so. */
${FILTERS[filter].translator}

const COMPARED = ${FILTERS[filter].range};
const WRITTEN = { createable: true, updateable: true } as const;

/** Notes: a toy, to be replaced by what the provider has. */
export const notes = defineObject<${FILTERS[filter].native}>({
  label: 'Notes',
  description: 'What people noted down.',
  fields: {
    id: { type: 'integer', nullable: false,${isSorted ? ' sortable: true,' : ''} filter: ${FILTERS[filter].id} },
    title: { type: 'string', nullable: false, required: true, ...WRITTEN, filter: ${FILTERS[filter].title} },
    status: {
      type: 'string',
      nullable: false,
      ...WRITTEN,
      values: ['draft', 'open', 'done'],
      domain: { closed: true },
      filter: ${FILTERS[filter].status},
    },
    size: { type: 'integer', ...WRITTEN,${isSorted ? ' sortable: true,' : ''} filter: COMPARED },
    day: { type: 'date', ...WRITTEN,${isSorted ? ' sortable: true,' : ''} filter: COMPARED },
    // Nobody can filter it there, so it is filtered here.
    remark: { type: 'string', ...WRITTEN },
  },
  translator,
  list: list<${FILTERS[filter].native}>({
    request: ({ filter, ${isSorted ? 'order, ' : ''}page }) => ({ path: '/notes', query: { ${FILTERS[filter].query}, ${isSorted ? 'order, ' : ''}...page } }),
    rows: (body) => json.array(json.at(body, 'notes'), 'the notes'),
    paging: ${PAGING[paging]},${isSorted ? order.replaceAll('\n      ', '\n    ') : ''}
  }),
  ...records({
    get: (id) => ({ path: path\`/notes/\${id}\` }),
    create: { request: (values) => ({ method: 'POST', path: '/notes', json: values }) },
    update: {
      request: (id, values) => ({ method: 'PATCH', path: path\`/notes/\${id}\`, json: values }),
      record: ({ body }) => json.object(body, 'the note'),
    },
    remove: (id) => ({ method: 'DELETE', path: path\`/notes/\${id}\` }),
  }),
});

/** ${titleOf(key)}. Facts and their sources: README.md. */
export default defineConnector({
  key: '${key}',
  id: ${idOf(key)},
  contract: 1,
  name: '${titleOf(key)}',
  description: 'Notes.',
  hub: 'general',
  documentation: [{ title: 'Documentation of the API', url: 'https://docs.${key}.example/' }],
  auth: ${AUTH[auth]},
  configuration: ${auth === 'oauth2' ? '[]' : 'CONFIGURATION'},
  baseUrl: () => \`https://\${HOST}\`,
  hosts: [HOST],
  probe: { path: '/me' },
  classify: errors({ message: ({ body }) => json.findText(json.at(body, 'error', 'message')) }),
  objects: { notes },
});
`;
}

export const SETTINGS: Readonly<Record<Choices['auth'], string>> = {
  basic: `
const CONFIGURATION = [
  {
    key: 'username',
    type: 'string',
    description: 'Name of the user whose rights the instance has.',
    required: true,
    setup: ['Log in.', 'Open Settings → Users, and copy the name of a user who may read notes.'],
  },
  {
    key: 'password',
    type: 'string',
    description: 'The password of that user.',
    required: true,
    secret: true,
    setup: ['Open Settings → Users, choose the user, and set a password.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);
`,
  key: `
const CONFIGURATION = [
  {
    key: 'api.key',
    type: 'string',
    description: 'API key from Settings → API keys.',
    required: true,
    secret: true,
    setup: ['Log in.', 'Open Settings → API keys, create a key, and copy it.'],
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);
`,
  oauth2: '',
};

export const AUTH: Readonly<Record<Choices['auth'], string>> = {
  basic: `{
    type: 'basic',
    credentials: (config) => ({ username: setting(config, 'username'), password: setting(config, 'password') }),
  }`,
  key: `{ type: 'custom', headers: (config) => ({ 'x-api-key': setting(config, 'api.key') }) }`,
  oauth2: `{
    type: 'oauth2',
    authorizeUrl: () => \`https://\${HOST}/oauth/authorize\`,
    tokenUrl: () => \`https://\${HOST}/oauth/token\`,
    setup: [
      'Register an application under Settings → Applications, with your callback URL.',
      'Its client id is \`oauth.api.key\`, its client secret \`oauth.api.secret\`.',
    ],
    scopes: ['notes'],
  }`,
};

const PAGING: Readonly<Record<Choices['paging'], string>> = {
  offset: `{ kind: 'offset', offset: 'offset', size: 'limit', max: 100, total: ({ body }) => json.at(body, 'total') }`,
  number: `{ kind: 'number', page: 'page', size: 'limit', max: 100, total: ({ body }) => json.at(body, 'total') }`,
  cursor: `{ kind: 'cursor', cursor: 'cursor', size: 'limit', max: 100, next: ({ body }) => json.at(body, 'next') }`,
  link: `{ kind: 'link', size: 'limit', max: 100, next: nextLink }`,
  whole: `{ kind: 'whole' }`,
};

interface FilterSource {
  readonly names: readonly string[];
  /** The type of a translated filter. */
  readonly native: string;
  readonly comment: string;
  readonly translator: string;
  readonly query: string;
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly range: string;
}

const FILTERS: Readonly<Record<Choices['filter'], FilterSource>> = {
  infix: {
    names: ['infix', 'plainText', 'quoteDoubled'],
    native: 'string',
    comment: 'Comparisons joined by `and`, nothing else.',
    translator: `const translator = infix({
  and: 'and',
  parentheses: 'none',
  words: { '=': 'eq', '!=': 'ne', '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' },
  literal: (value) => (value.kind === 'string' ? quoteDoubled(value.value) : plainText(value)),
  // A note without a value is in no comparison.
  nulls: 'unknown',
});`,
    query: 'filter',
    id: 'COMPARED',
    title: "can.only('exact', '=', '!=')",
    status: "can.only('exact', '=', '!=')",
    range: "{ ...can.only('exact', '=', '!='), ...can.order('exact') }",
  },
  inputs: {
    names: ['type Inputs', 'inputs'],
    native: 'Inputs',
    comment: 'A query parameter for each field; bounds include themselves.',
    translator: `const translator = inputs({
  id: 'id',
  title: 'title',
  status: 'status',
  size: { from: 'sizeFrom', to: 'sizeTo' },
  day: { from: 'dayFrom', to: 'dayTo' },
});`,
    query: '...filter',
    id: "can.only('exact', '=')",
    title: "can.only('exact', '=')",
    status: "can.only('exact', '=', 'IN')",
    range: "can.only('exact', '=', '<=', '>=')",
  },
};
