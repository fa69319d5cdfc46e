import { expect } from 'chai';
import type { Changes, Config, Connector, FieldSpec, ObjectSpec } from '../../src/connector/index.ts';
import { MARK_COLOURS, MARK_SHAPES } from '../../src/connector/mark.ts';
import { ConnectorError, findProblems } from '../../src/connector/validate.ts';
import { findObjectProblems } from '../../src/connector/validate-objects.ts';
import { DECIMAL_TEXT } from '../../src/numbers/number-value.ts';
import type { Operator } from '../../src/where/ast.ts';
import { leastConnector } from '../support/least-connector.ts';

const list = { run: async () => ({ records: [] }), maxPageSize: 100 };
const get = { run: async () => ({}) };

function createConnector(changes: Partial<Connector> = {}): Connector {
  const configuration = [{ key: 'site', type: 'string', description: 'The site' }] as const;
  return leastConnector({ configuration, objects: { things: createObject() }, ...changes });
}

function createObject(changes: Partial<ObjectSpec> = {}): ObjectSpec {
  return { fields: { id: { type: 'integer' } }, list, get, ...changes };
}

function exchanging(code: string, token: string): Connector['auth'] {
  return { type: 'custom', headers: () => ({}), exchange: { code, token, request: () => ({}), read: () => '' } };
}

function problemsOfField(field: FieldSpec, changes: Partial<ObjectSpec> = {}): readonly string[] {
  return findObjectProblems({ things: createObject({ fields: { id: { type: 'integer' }, x: field }, ...changes }) });
}

describe('a connector without problems', () => {
  it('has none', () => {
    expect(findProblems([createConnector(), createConnector({ key: 'other', id: 2 })])).to.deep.equal([]);
  });

  for (const [hosts, host] of [
    [['*.example.com'], 'shop.example.com'],
    [['a-b.example.com:8443', 'example.org'], 'a-b.example.com:8443'],
  ] as const) {
    it(`may have the hosts ${hosts}`, () => {
      expect(findProblems([createConnector({ hosts, baseUrl: () => `https://${host}/v1` })])).to.deep.equal([]);
    });
  }

  it('may have an address that its settings decide', () => {
    for (const baseUrl of [
      (config: Config) => `https://${config.site}`,
      (config: Config) => `https://${String(config.site).toLowerCase()}.example.org`,
      (config: Config) => {
        if (config.site === undefined) throw new Error('There is no site.');
        return '';
      },
    ]) {
      expect(findProblems([createConnector({ baseUrl })])).to.deep.equal([]);
    }
  });

  it('may have hosts and objects that are known later only', () => {
    const later = createConnector({ hosts: () => [], objects: async () => ({ '/': createObject() }) });
    expect(findProblems([later])).to.deep.equal([]);
  });
});

describe('a connector in JavaScript', () => {
  for (const [member, problem] of [
    ['auth', "acme: 'auth' is missing, or is not of the type object"],
    ['configuration', "acme: 'configuration' is missing, or is not of the type list"],
    ['hosts', "acme: 'hosts' is missing, or is not of the type list or function"],
    ['objects', "acme: 'objects' is missing, or is not of the type object or function"],
  ] as const) {
    it(`may lack '${member}', which is named`, () => {
      const { [member]: _, ...rest } = createConnector({ key: 'acme' });
      // What a compiler would refuse.
      expect(Reflect.apply(findProblems, undefined, [[rest]])).to.deep.equal([problem]);
    });
  }

  it('may have objects without fields, which are named', () => {
    const { fields: _, ...object } = createObject();
    expect(Reflect.apply(findObjectProblems, undefined, [{ things: object }])).to.deep.equal([
      "things: 'fields' is missing, or is not of the type object",
    ]);
  });
});

describe('the problems of a connector', () => {
  type Case = readonly [what: string, changes: Partial<Connector>, problems: string | readonly string[]];
  const cases: readonly Case[] = [
    [
      'operations beside objects that tell them',
      { operations: ['list'] },
      "'operations' is only for discovered objects; the declared objects contain them",
    ],
    ['a key with capitals', { key: 'Shop' }, 'the key is lower-case letters and digits, beginning with a letter'],
    [
      'a key that begins with a digit',
      { key: '1shop' },
      'the key is lower-case letters and digits, beginning with a letter',
    ],
    ['the key of a path', { key: 'keys' }, "the key 'keys' belongs to the platform: GET /elements/keys lists all keys"],
    ['an id of 0', { id: 0 }, 'the id is a whole number from 1'],
    ['a fraction as id', { id: 1.5 }, 'the id is a whole number from 1'],
    ['a blank name', { name: ' ' }, 'the name is empty'],
    [
      'a mark of a shape and a colour that there are not',
      { mark: { shape: 'logo', colour: 'gold' } as never },
      [
        `the shape 'logo' of its mark is not one of ${Object.keys(MARK_SHAPES).join(', ')}`,
        `the colour 'gold' of its mark is not one of ${Object.keys(MARK_COLOURS).join(', ')}`,
      ],
    ],
    ['a blank hub', { hub: '' }, 'a hub is empty'],
    ['no host', { hosts: [] }, 'it names no host'],
    [
      'an address that is on none of its hosts',
      { baseUrl: () => 'https://api.example.org/v1' },
      'its baseUrl leads to api.example.org, which is not one of its hosts',
    ],
    [
      'an address that is none',
      { baseUrl: () => 'shop.example.com' },
      "its baseUrl 'shop.example.com' is not an address, as in https://api.example.com/v1",
    ],
    [
      'an address that cannot be made',
      {
        baseUrl: () => {
          throw new Error('It is closed.');
        },
      },
      'its baseUrl fails: It is closed.',
    ],
    ...['https://a.example.com', 'a.example.com/path', 'localhost', 'a.*.com', '*'].map(
      (host) =>
        [
          `the host ${host}`,
          { hosts: [host] },
          `'${host}' is not a host, as in api.example.com or *.example.com`,
        ] as Case,
    ),
    [
      'a configuration key twice',
      { configuration: [configured('a'), configured('b'), configured('a')] },
      "the configuration key 'a' is declared twice",
    ],
    [
      "the platform's configuration key",
      { configuration: [configured('simulator')] },
      "the configuration key 'simulator' belongs to the platform",
    ],
    [
      'a required key with a default',
      { configuration: [{ ...configured('a'), required: true, default: 'x' }] },
      "'a' is required and has a default",
    ],
    [
      'an exchange of a code whose keys are not there, or are asked for anyway',
      { auth: exchanging('code', 'token'), configuration: [{ ...configured('code'), secret: true, required: true }] },
      ['code', 'token'].map(
        (key) => `the key '${key}' of its exchange is not a secret text that is neither required nor has a default`,
      ),
    ],
    [
      'an exchange that gives what it takes',
      { auth: exchanging('code', 'code'), configuration: [{ ...configured('code'), secret: true }] },
      "its exchange returns the 'code' that it accepts",
    ],
    ...['http://shop.example.com', 'javascript:alert(1)', '/help', 'https://user:secret@shop.example.com'].map(
      (url) =>
        [
          `the page ${url}`,
          { documentation: [{ title: 'Help', url }] },
          `'${url}' of its documentation is not an address that begins with https://`,
        ] as Case,
    ),
    [
      'a page without a title',
      { documentation: [{ title: ' ', url: 'https://shop.example.com/help' }] },
      'the page https://shop.example.com/help of its documentation has no title',
    ],
    [
      'a set-up without steps, and with an empty one',
      {
        configuration: [
          { ...configured('a'), setup: [] },
          { ...configured('b'), setup: ['Look.', ' '] },
        ],
      },
      ["the set-up of 'a' has no steps: leave it out", "a step in the set-up of 'b' is empty"],
    ],
  ];

  for (const [what, changes, problems] of cases) {
    it(`include ${what}`, () => {
      const { key = 'shop' } = changes;
      const expected = [problems].flat().map((problem) => `${key}: ${problem}`);
      expect(findProblems([createConnector(changes)])).to.deep.equal(expected);
    });
  }

  it('include a key and an id that another connector has', () => {
    expect(findProblems([createConnector(), createConnector()])).to.deep.equal([
      'shop: the key shop belongs to another connector already',
      'shop: the id 1 belongs to another connector already',
    ]);
  });

  it('are reported all at once, in one message', () => {
    const broken = createConnector({
      id: -1,
      hosts: ['*'],
      configuration: [configured('simulator')],
      objects: { 'a b': createObject({ fields: {} }) },
    });
    const problems = [
      'shop: the id is a whole number from 1',
      "shop: the configuration key 'simulator' belongs to the platform",
      "shop: '*' is not a host, as in api.example.com or *.example.com",
      'shop: a b: the name does not fit a path',
      "shop: a b: there is no field 'id' to identify a record",
    ];
    expect(findProblems([broken])).to.deep.equal(problems);
    expect(new ConnectorError(problems).message).to.equal(
      `A connector is not usable:\n${problems.map((problem) => `- ${problem}`).join('\n')}`,
    );
  });
});

function configured(key: string) {
  return { key, type: 'string', description: 'A setting' } as const;
}

describe('the problems of an object', () => {
  const problemsOf = (changes: Partial<ObjectSpec>) => findObjectProblems({ things: createObject(changes) });

  it('are none for a name of two words, and several for aliases that do not fit or are there twice', () => {
    expect(findObjectProblems({ 'a/b': createObject() })).to.deep.equal([]);
    const aliased = { x: createObject({ aliases: ['one', 'a b'] }), y: createObject({ aliases: ['one'] }) };
    expect(findObjectProblems(aliased)).to.deep.equal([
      "x: the alias 'a b' does not fit a path",
      "two objects have the alias 'one'",
    ]);
  });

  it('are those of aliases of fields that mean two things, or nothing', () => {
    const fields: ObjectSpec['fields'] = {
      id: { type: 'integer', aliases: { changed: '=', 'a b': '=' } },
      changed: { type: 'datetime', aliases: { since: '>=', paid: '=' } },
      open: { type: 'boolean', aliases: { since: '>=' } },
    };
    const parameters = { paid: { type: 'boolean', description: 'Whether it is paid.' } } as const;
    expect(problemsOf({ fields, parameters })).to.deep.equal([
      "things: id: the alias 'changed' is the name of a field",
      "things: id: the alias 'a b' is not a name that a filter can have",
      "things: changed: the alias 'paid' is the name of a parameter",
      "things: open: another field has the alias 'since', too",
      "things: open: '=' of the alias 'since' means >=, which no boolean has",
    ]);
  });

  for (const name of ['', 'a/b/c', '/a', '.hidden', 'a b', 'ä', '-a']) {
    it(`include the name '${name}'`, () => {
      expect(findObjectProblems({ [name]: createObject() })).to.deep.equal([`${name}: the name does not fit a path`]);
    });
  }

  for (const name of ['time-off', 'Order_Lines', '2024.items']) {
    it(`do not include the name '${name}'`, () => {
      expect(findObjectProblems({ [name]: createObject() })).to.deep.equal([]);
    });
  }

  it('include an id field that does not exist, where records have addresses', () => {
    expect(problemsOf({ idField: 'code' })).to.deep.equal(["things: there is no field 'code' to identify a record"]);
    const { get: _, ...listOnly } = createObject({ fields: { name: { type: 'string' } } });
    expect(findObjectProblems({ things: listOnly })).to.deep.equal([]);
  });

  it('include a page size below 1', () => {
    expect(problemsOf({ list: { ...list, maxPageSize: 0 } })).to.deep.equal(['things: maxPageSize is below 1']);
  });

  it('include a result window below 1', () => {
    expect(problemsOf({ limits: { resultWindow: 0 } })).to.deep.equal(['things: resultWindow is below 1']);
  });

  it('include changes that nothing can tell', () => {
    const at = { type: 'datetime', filter: { '>=': 'exact' } } as const;
    const fields = { id: { type: 'integer' }, at, seen: { type: 'datetime' } } as const;
    const translator = { and: () => '', compare: () => '' };
    const found = (changes: Changes, more: Partial<ObjectSpec> = {}) =>
      problemsOf({ fields, translator, changes, ...more }).map((problem) => problem.replace('things: its ', ''));
    expect(found({ updated: 'at', created: 'seen' })).to.deep.equal([]);
    expect(found({ updated: 'modified' })).to.deep.equal(["changes name 'modified', which is not a field"]);
    expect(found({ updated: 'seen' })).to.deep.equal(["changes need '>=' on 'seen'"]);
    expect(found({ created: 'at' })).to.deep.equal(['changes name neither a field nor a feed']);
    expect(found({ updated: 'at', reports: [] })).to.deep.equal(['changes have an empty list reports']);
    const describe = async () => createObject();
    expect(found({ reports: ['created'] }, { describe })).to.deep.equal([]);
    expect(found({ updated: 'at' }, { describe })).to.deep.equal(['outline has more members of changes than reports']);
  });

  it('include a required filter that does not exist', () => {
    const parameters = { since: { type: 'date', description: 'From when' } } as const;
    expect(problemsOf({ parameters, requiredFilters: ['since', 'id', 'until'] })).to.deep.equal([
      "things: the required filter 'until' is neither a field nor a parameter",
    ]);
  });

  it('include a parameter that a field hides', () => {
    const parameters = { id: { type: 'integer', description: 'The id' } } as const;
    expect(problemsOf({ parameters })).to.deep.equal(["things: the parameter 'id' has the name of a field"]);
  });

  it('are not hidden by names that every JavaScript object has', () => {
    expect(problemsOf({ idField: 'constructor', requiredFilters: ['toString'] })).to.deep.equal([
      "things: there is no field 'constructor' to identify a record",
      "things: the required filter 'toString' is neither a field nor a parameter",
    ]);
  });

  it('include a boolean shape without its words in the translator', () => {
    const and = (operands: readonly unknown[]) => operands;
    const missing = (word: string) => `things: its shape needs '${word}' in the translator`;
    expect(problemsOf({ translator: {} })).to.deep.equal([missing('and')]);
    expect(problemsOf({ translator: {}, shape: { kind: 'none' } })).to.deep.equal([]);
    expect(problemsOf({ translator: { and } })).to.deep.equal([]);
    for (const kind of ['any', 'dnf', 'cnf', 'and-xor-or'] as const) {
      expect(problemsOf({ translator: { and }, shape: { kind } }), kind).to.deep.equal([missing('or')]);
    }
  });

  it('include uploads of nothing, and of what cannot be read back', () => {
    const create = { request: () => ({}), read: () => ({ id: '1' }) };
    const { get: _get, ...unread } = createObject();
    const things = { ...unread, upload: { create } };
    expect(problemsOf({ upload: { create } })).to.deep.equal([]);
    expect(problemsOf({ upload: {} })).to.deep.equal(['things: its upload neither creates nor replaces']);
    expect(findObjectProblems({ things })).to.deep.equal(['things: its upload needs a get']);
  });

  it('include jobs of the provider without the calls that take what does not fit them', () => {
    const pair = { request: () => ({}), read: () => ({ kind: 'done' as const }) };
    const job = { fromRows: 1, look: pair, end: () => [] };
    const read = { run: async () => ({ records: [] }) };
    const start = { request: () => ({}), read: () => '1' };
    const count = { run: async () => 1 };
    const query = { ...job, count, start, read, pageSize: 1 };
    const ingest = {
      ...job,
      mostRows: 1,
      mostBytes: 1,
      actions: { create: [], delete: ['id'] },
      start: { run: async () => undefined },
      read: { run: async () => [] },
    };
    const { list: _list, create: _create, remove: _remove, ...rest } = createObject();
    expect(findObjectProblems({ things: { ...rest, bulk: { query, ingest } } })).to.deep.equal([
      'things: bulk.query requires a list',
      "things: bulk.ingest accepts 'create', but the object has no such operation for single records",
      "things: bulk.ingest accepts 'delete', but the object has no such operation for single records",
    ]);
  });

  it('include media types that no Accept header could name, and JSON', () => {
    const media = (types: readonly string[]) => ({ media: { types, request: () => ({}) } });
    expect(problemsOf(media(['application/pdf', 'image/svg+xml', '*']))).to.deep.equal([]);
    expect(problemsOf(media([]))).to.deep.equal(['things: its media has no type']);
    expect(problemsOf(media(['PDF', 'text/plain;charset=utf-8', 'image/*', 'application/json']))).to.deep.equal([
      "things: 'PDF' is not a media type in lower case without parameters",
      "things: 'text/plain;charset=utf-8' is not a media type in lower case without parameters",
      "things: 'image/*' is not a media type in lower case without parameters",
      "things: the media type 'application/json' is JSON, which is the type of records",
    ]);
  });

  it('include those of its children, under their names', () => {
    const child = createObject({ list: { ...list, maxPageSize: 0 }, fields: {} });
    expect(problemsOf({ children: { notes: child } })).to.deep.equal([
      "things: notes: there is no field 'id' to identify a record",
      'things: notes: maxPageSize is below 1',
    ]);
  });
});

describe('the problems of a field', () => {
  const CONSTRUCTS: Readonly<Record<Operator, string>> = {
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

  for (const [operator, construct] of Object.entries(CONSTRUCTS)) {
    it(`include ${operator} without its translator function, and without any translator`, () => {
      const field: FieldSpec = { type: 'string', filter: { [operator]: 'exact' } };
      const problem = `things: x: ${operator} is declared, but the translator has no '${construct}'`;
      expect(problemsOfField(field)).to.deep.equal([problem]);
      expect(problemsOfField(field, { translator: { and: () => '' } })).to.deep.equal([problem]);
      expect(problemsOfField(field, { translator: { and: () => '', [construct]: () => '' } })).to.deep.equal([]);
    });
  }

  it('include operators that no filter can use on the type', () => {
    const translator = { and: () => '', compare: () => '', like: () => '', isNull: () => '' };
    const meaningless: readonly (readonly [FieldSpec['type'], Operator])[] = [
      ['number', 'LIKE'],
      ['date', 'NOT LIKE'],
      ['boolean', '<'],
      ['object', '='],
      ['array', '!='],
    ];
    for (const [type, operator] of meaningless) {
      expect(problemsOfField({ type, filter: { [operator]: 'exact' } }, { translator })).to.deep.equal([
        `things: x: ${operator} is declared, but no filter can use it on the type ${type}`,
      ]);
      expect(problemsOfField({ type, filter: { 'IS NULL': 'exact' } }, { translator })).to.deep.equal([]);
    }
  });

  it('include a type and an operator that are none, as connectors in JavaScript can have', () => {
    const declared = (text: string): FieldSpec => JSON.parse(text);
    expect(problemsOfField(declared('{"type":"text","filter":{"=":"exact"},"aliases":{"y":"="}}'))).to.deep.equal([
      "things: x: the type 'text' is not one of string, number, integer, boolean, date, datetime, object, array",
    ]);
    expect(problemsOfField(declared('{"type":"string","filter":{"==":"exact"}}'))).to.deep.equal([
      "things: x: the operator '==' is not one of IS NULL, IS NOT NULL, =, !=, IN, NOT IN, <, <=, >, >=, LIKE, NOT LIKE",
    ]);
  });

  it('include a collation of anything but text', () => {
    expect(problemsOfField({ type: 'date', collation: 'ci' })).to.deep.equal(['things: x: only text has a collation']);
    expect(problemsOfField({ type: 'string', collation: 'ci' })).to.deep.equal([]);
  });

  it('include a format or a range of numbers on anything else, and a range that is none', () => {
    const format = DECIMAL_TEXT;
    const noFormat = 'things: x: only numbers and lists of them have the format decimal-text';
    expect(problemsOfField({ type: 'string', format })).to.deep.equal([noFormat]);
    const noRange = 'things: x: its range is not two canonical decimals of a number, the lower one first';
    const wrong = [
      { type: 'string', range: ['1', '2'] },
      { type: 'integer', range: ['2', '1'] },
      { type: 'integer', range: ['1', '1e3'] },
      { type: 'number', range: ['', '1'] },
    ] as const;
    for (const field of wrong) expect(problemsOfField(field)).to.deep.equal([noRange]);
    const right = [
      { type: 'array', format },
      { type: 'number', format, range: ['-1.5', '100'] },
    ] as const;
    for (const field of right) expect(problemsOfField(field)).to.deep.equal([]);
  });

  it('include a domain that does not fit the type, or itself', () => {
    const problem = (field: FieldSpec, text: string) =>
      expect(problemsOfField(field)).to.deep.equal([`things: x: ${text}`]);
    problem({ type: 'string', domain: { digits: { total: 3 } } }, 'only numbers have a domain of digits');
    problem({ type: 'number', domain: { digits: { decimals: -1 } } }, 'digits are counted in whole numbers');
    problem({ type: 'string', domain: { step: 'day' } }, 'only dates and instants have a first, a last and a step');
    problem(
      { type: 'date', domain: { first: '2026-01-31T00:00:00Z' } },
      'its first and last are written as yyyy-MM-dd',
    );
    problem(
      { type: 'datetime', domain: { last: '2026-02-30' } },
      'its first and last are written as yyyy-MM-ddTHH:mm:ssZ, or a date',
    );
    problem({ type: 'date', domain: { first: '2026-02-01', last: '2026-01-01' } }, 'its last is before its first');
    problem({ type: 'number', domain: { text: { nonEmpty: true } } }, 'only text has a domain of texts');
    problem({ type: 'string', domain: { closed: true } }, 'its domain is closed, and it has no values');
    const right = [
      { type: 'number', domain: { digits: { significant: 15 }, rounded: 15 } },
      { type: 'datetime', domain: { first: '1700-01-01', last: '4000-12-31T23:59:59Z', step: 'second' } },
      { type: 'string', values: ['a'], domain: { closed: true, text: { longest: 5 } } },
    ] as const;
    for (const field of right) expect(problemsOfField(field)).to.deep.equal([]);
  });

  it('include an exact comparison of what the provider keeps rounded', () => {
    const compare = () => '';
    const field = (exactness: 'exact' | 'superset'): FieldSpec => {
      return { type: 'number', domain: { rounded: 15 }, filter: { '<': exactness, 'IS NULL': 'exact' } };
    };
    const translator = { and: () => '', compare, isNull: compare };
    const problems = (exactness: 'exact' | 'superset') => problemsOfField(field(exactness), { translator });
    expect(problems('exact')).to.deep.equal(['things: x: what is rounded cannot be compared exactly']);
    expect(problems('superset')).to.deep.equal([]);
  });

  it('do not include lists without a list in the translator, where equalities say the same', () => {
    const translator = { and: () => '', compare: () => '' };
    const problems = (filter: FieldSpec['filter'] & object) =>
      problemsOfField({ type: 'string', filter }, { translator });
    expect(problems({ '=': 'exact', IN: 'exact', '!=': 'superset', 'NOT IN': 'superset' })).to.deep.equal([]);
    const problem = (operator: string) => `things: x: ${operator} is declared, but the translator has no 'in'`;
    expect(problems({ '=': 'superset', IN: 'exact' })).to.deep.equal([problem('IN')]);
    expect(problems({ '=': 'exact', 'NOT IN': 'exact' })).to.deep.equal([problem('NOT IN')]);
  });

  it('include forms of LIKE without LIKE', () => {
    expect(problemsOfField({ type: 'string', likeForms: ['prefix'] })).to.deep.equal([
      'things: x: it has likeForms without LIKE',
    ]);
  });

  it('include a required value that nobody can give', () => {
    expect(problemsOfField({ type: 'string', required: true })).to.deep.equal([
      'things: x: it is required, but cannot be set on create',
    ]);
    expect(problemsOfField({ type: 'string', required: true, createable: true })).to.deep.equal([]);
  });
});
