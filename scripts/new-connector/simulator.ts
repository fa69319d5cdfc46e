import { type Choices, titleOf } from './choices.ts';
import { importList } from './import-list.ts';

/** The source of `simulator.ts`: the provider of the toy, in memory. */
export function simulatorSource(choices: Choices): string {
  const { key, paging, filter, auth } = choices;
  const isSorted = paging !== 'whole';
  const names = [
    ...(isSorted ? ['type OrderTerm', 'sortRows'] : []),
    'type Call',
    'changesOf',
    'compileFilter',
    'createMovableClock',
    'createTable',
    'empty',
    'Fault',
    'type Filter',
    'type FilterTest',
    'json',
    'makeRowsFor',
    'type Row',
    'type Simulator',
    'type SimulatorOptions',
    'simulate',
    'takePage',
    ...AUTH[auth].names,
  ];
  return `import {
${importList(names)}
} from '#connector/simulator';

/** What an instance on the simulator is configured with. */
export const DEMO_CONFIGURATION = ${AUTH[auth].configuration};
${AUTH[auth].constants}
const FIELDS = { id: 'integer', title: 'string', status: 'string', size: 'integer', day: 'date' } as const;
const WRITTEN = ['title', 'status', 'size', 'day', 'remark'];
const STATUSES = ['draft', 'open', 'done'];

/** ${titleOf(key)} in memory: notes with every hostile text, and nulls. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const clock = createMovableClock();
  const table = createTable({
    rows: makeRowsFor(140, {
      title: { type: 'text' },
      status: { type: 'text', values: STATUSES },
      size: { type: 'integer', nullEvery: 7 },
      day: { type: 'date', nullEvery: 5 },
      remark: { type: 'text', nullEvery: 3 },
    }).map((row, index) => ({ id: index + 1, ...row })),
    keyOf: ({ id }) => String(id),
    initial: (_given, before) => ({
      id: Math.max(0, ...before().map(({ id }) => Number(id))) + 1,
      status: 'draft',
      size: null,
      day: null,
      remark: null,
    }),
  });
${AUTH[auth].server}
  return simulate(
    {
      clock,
      ${AUTH[auth].guard}
      print: ({ status, code, message, headers }) => json({ error: { code, message } }, status, headers),
      routes: {
        'GET /me': () => json({ name: 'Dana Demo' }),
        'GET /notes': (call) => listNotes(call, table.rows()),
        'POST /notes': ({ body }) => json(table.insert(readNote(body.object())), 201),
        'GET /notes/{id}': ({ params: { id = '' } }) => json(found(table.find(id))),
        'PATCH /notes/{id}': ({ params: { id = '' }, body }) => json(found(table.update(id, readNote(body.object())))),
        'DELETE /notes/{id}': ({ params: { id = '' } }) => {
          found(table.remove(id));
          return empty();
        },
      },
      commands: changesOf({
        notes: {
          table,
          keyOf: ({ id }) => String(id),
          create: (number) => ({ title: \`Made elsewhere \${number}\` }),
          change: (number) => ({ remark: \`Changed elsewhere \${number}\` }),
        },
      }),
    },
    options,
  );
}

function found(row: Row | undefined): Row {
  if (row === undefined) throw new Fault(404, 'NOT_FOUND', 'There is no such note.');
  return row;
}

function readNote(given: Row): Row {
  const unknown = Object.keys(given).filter((name) => !WRITTEN.includes(name));
  if (unknown.length > 0) throw new Fault(422, 'UNKNOWN_FIELD', \`A note has no \${unknown.join(', ')}.\`);
  if ('status' in given && !STATUSES.includes(String(given.status))) {
    throw new Fault(422, 'INVALID_VALUE', \`A status is one of \${STATUSES.join(', ')}.\`);
  }
  return given;
}

function listNotes(call: Call, rows: readonly Row[]) {
  const test = compileFilter(${FILTERS[filter].read}, {
    field: (name) => (isField(name) ? { type: FIELDS[name] } : undefined),
  });
${isSorted ? "  const sorted = sortRows(rows.filter(test), readOrder(call.query.get('order')));\n" : '  const sorted = rows.filter(test);\n'}${PAGING[paging]}
}

function isField(name: string): name is keyof typeof FIELDS {
  return Object.hasOwn(FIELDS, name);
}
${isSorted ? ORDER : ''}
${FILTERS[filter].parser}`;
}

const ORDER = `
/** \`size desc,id asc\` */
function readOrder(text: string | null): readonly OrderTerm[] {
  return (text ?? '').split(',').flatMap((term) => {
    const [name = '', direction] = term.split(' ');
    if (!isField(name)) return [];
    return [{ type: FIELDS[name], read: (row) => row[name], descending: direction === 'desc' }];
  });
}
`;

const PAGED = (paging: string, answer: string) =>
  `  const page = takePage(sorted, ${paging}, call);\n  return ${answer};`;

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
function readFilter(text: string): Filter {
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

/** Written from the provider's documentation, without a look at the connector. */
function readFilter(query: URLSearchParams): Filter {
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
