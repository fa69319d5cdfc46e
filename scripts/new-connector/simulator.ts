import { type Choices, titleOf } from './choices.ts';
import { importList } from './import-list.ts';

/** Returns the source of `simulator.ts`, which implements the provider of the toy object in memory. */
export function simulatorSource(choices: Choices): string {
  const { key, paging, filter, auth } = choices;
  const isSorted = paging !== 'whole';
  const names = [
    ...(isSorted ? ['type RowOrder', 'sortRows'] : []),
    'type SimulatedResponse',
    'type Call',
    'changesOf',
    'compileFilter',
    'createCollections',
    'createMovableClock',
    'Fault',
    'filterFieldOf',
    'type FilterTest',
    'type FilterTree',
    'json',
    'membersOf',
    'recordRoutes',
    'type Simulator',
    'type SimulatorOptions',
    'simulate',
    'type TableRow',
    'takePage',
    ...AUTH[auth].names,
  ];
  return `import {
${importList(names)}
} from '#connector/simulator';
import { notes } from './index.ts';

/** The configuration of an instance on the simulator. */
export const DEMO_CONFIGURATION = ${AUTH[auth].configuration};
${AUTH[auth].constants}
const MEMBERS = membersOf(notes.fields);

/** ${titleOf(key)} in memory: notes with every hostile text, and nulls. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const clock = createMovableClock();
  const collections = createCollections({
    clock,
    isStrict: true,
    refuse: ([complaint]) => new Fault(422, 'INVALID_NOTE', complaint?.message ?? ''),
    absent: () => new Fault(404, 'NOT_FOUND', 'There is no such note.'),
    of: { notes: { members: MEMBERS, rows: 140, initial: { status: 'draft' } } },
  });
${AUTH[auth].server}
  return simulate(
    {
      clock,
      ${AUTH[auth].guard}
      print: ({ status, code, message, headers }) => json({ error: { code, message } }, status, headers),
      routes: {
        'GET /me': () => json({ name: 'Dana Demo' }),
        ...recordRoutes('/notes', collections.notes, {
          list: (call) => listNotes(call, collections.notes.table.rows()),
          show: (row, _call, status) => json(row, status),
        }),
      },
      commands: changesOf(collections),
    },
    options,
  );
}

function listNotes(call: Call, rows: readonly TableRow[]): SimulatedResponse {
  const test = compileFilter(${FILTERS[filter].read}, { field: (name) => filterFieldOf(MEMBERS, name) });
${isSorted ? "  const sorted = sortRows(rows.filter(test), readOrder(call.query.get('order')));\n" : '  const sorted = rows.filter(test);\n'}${PAGING[paging]}
}
${isSorted ? ORDER : ''}
${FILTERS[filter].parser}`;
}

const ORDER = `
/** \`size desc,id asc\` */
function readOrder(text: string | null): readonly RowOrder[] {
  return (text ?? '').split(',').flatMap((term) => {
    const [name = '', direction] = term.split(' ');
    const field = filterFieldOf(MEMBERS, name);
    return field === undefined ? [] : [{ ...field, descending: direction === 'desc' }];
  });
}
`;

const PAGED = (paging: string, response: string) =>
  `  const page = takePage(sorted, ${paging}, call);\n  return ${response};`;

const PAGING: Readonly<Record<Choices['paging'], string>> = {
  offset: PAGED(
    "{ kind: 'offset', offset: 'offset', size: 'limit', usual: 50, most: 100 }",
    'json({ notes: page.rows, total: page.total })',
  ),
  number: PAGED(
    "{ kind: 'number', page: 'page', size: 'limit', usual: 50, most: 100 }",
    'json({ notes: page.rows, total: page.total })',
  ),
  cursor: PAGED(
    "{ kind: 'cursor', cursor: 'cursor', size: 'limit', usual: 50, most: 100 }",
    'json({ notes: page.rows, next: page.next ?? null })',
  ),
  link: PAGED(
    "{ kind: 'link', token: 'after', size: 'limit', usual: 50, most: 100 }",
    'json({ notes: page.rows }, 200, page.next === undefined ? {} : { link: `<${page.next}>; rel="next"` })',
  ),
  whole: PAGED("{ kind: 'whole' }", 'json({ notes: page.rows })'),
};

interface AuthSource {
  readonly names: readonly string[];
  readonly configuration: string;
  readonly constants: string;
  readonly server: string;
  readonly guard: string;
}

const AUTH: Readonly<Record<Choices['auth'], AuthSource>> = {
  basic: {
    names: ['basic'],
    configuration: "{ username: 'demo', password: 'demo-password' }",
    constants: '',
    server: '',
    guard: `authenticate: basic(
        'notes',
        ({ username, password }) =>
          username === DEMO_CONFIGURATION.username && password === DEMO_CONFIGURATION.password,
      ),`,
  },
  key: {
    names: ['keyHeader'],
    configuration: "{ 'api.key': 'demo-api-key' }",
    constants: '',
    server: '',
    guard: "authenticate: keyHeader('x-api-key', (key) => key === DEMO_CONFIGURATION['api.key']),",
  },
  oauth2: {
    names: ['bearer', 'createOAuthServer'],
    configuration: `{
  'oauth.api.key': 'demo-client',
  'oauth.api.secret': 'demo-secret',
  // Good without a login.
  'oauth.user.token': 'demo-access-token',
}`,
    constants: '',
    server: `  const oauth = createOAuthServer({
    title: 'Notes simulator',
    clients: { [DEMO_CONFIGURATION['oauth.api.key']]: { secret: DEMO_CONFIGURATION['oauth.api.secret'] } },
    clock,
    memory: options.memory,
    lifetimes: { accessMs: 3_600_000 },
    accessTokens: [DEMO_CONFIGURATION['oauth.user.token']],
  });
`,
    guard: `authenticate: bearer(oauth.accepts),
      open: { 'GET /oauth/authorize': oauth.authorize, 'POST /oauth/token': oauth.token },`,
  },
};

const FILTERS: Readonly<Record<Choices['filter'], { readonly read: string; readonly parser: string }>> = {
  infix: {
    read: "readFilter(call.query.get('filter') ?? '')",
    parser: `const OPERATORS = { eq: '=', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;

/** \`title eq 'it''s' and size ge 5\`. Written from the provider's documentation, without a look at the connector. */
function readFilter(text: string): FilterTree {
  const pattern = /(\\w+) (\\w\\w) (?:'((?:[^']|'')*)'|([^\\s']+))(?: and |$)/y;
  const operands: FilterTest[] = [];
  while (pattern.lastIndex < text.length) {
    const [, field = '', word = '', quoted, plain = ''] = pattern.exec(text) ?? [];
    if (!isOperator(word)) throw new Fault(400, 'BAD_FILTER', \`'\${text}' is no filter.\`);
    operands.push({ kind: 'test', field, operator: OPERATORS[word], values: [quoted?.replaceAll("''", "'") ?? plain] });
  }
  return { kind: 'and', operands };
}

function isOperator(word: string): word is keyof typeof OPERATORS {
  return Object.hasOwn(OPERATORS, word);
}
`,
  },
  inputs: {
    read: 'readFilter(call.query)',
    parser: `/** Each query parameter, and what it tests. */
const TESTS = {
  id: ['id', '='],
  title: ['title', '='],
  status: ['status', 'IN'],
  sizeFrom: ['size', '>='],
  sizeTo: ['size', '<='],
  dayFrom: ['day', '>='],
  dayTo: ['day', '<='],
} as const;

/** Reads a filter. It is written from the provider's documentation, without a look at the connector. */
function readFilter(query: URLSearchParams): FilterTree {
  const operands = Object.entries(TESTS).flatMap(([parameter, [field, operator]]): FilterTest[] => {
    const value = query.get(parameter);
    if (value === null) return [];
    return [{ kind: 'test', field, operator, values: operator === 'IN' ? value.split(',') : [value] }];
  });
  return { kind: 'and', operands };
}
`,
  },
};
