import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  changesOf,
  columnsFor,
  compileFilter,
  createCollections,
  createKeptTable,
  createMovableClock,
  createResults,
  createTable,
  describedMembers,
  escapePattern,
  Fault,
  type FilterRules,
  type FilterTree,
  fault,
  HOSTILE_TEXTS,
  json,
  makeRows,
  membersOf,
  type Page,
  type PagedCall,
  type PageStyle,
  recordRoutes,
  signWebhook,
  simulate,
  sortRows,
  type TableRow,
  takePage,
  times,
} from '#connector/simulator';
import { anyCharacter } from '../../support/characters.ts';
import { createVirtualClock } from '../../support/virtual-clock.ts';
import { serve } from './serve.ts';

const idOf = ({ id }: TableRow) => String(id);

describe('a simulated table', () => {
  const clock = createVirtualClock();
  const create = (deleted?: string) =>
    createTable({
      rows: [{ id: 1, name: 'a' }],
      keyOf: idOf,
      initial: (_, rows) => ({ id: rows().length + 1, name: null }),
      stamps: { clock, write: (ms) => ms, created: ['made'], changed: ['changed'] },
      ...(deleted !== undefined && { deleted }),
    });

  it('gives ids and stamps of its clock', async () => {
    const table = create();
    const start = clock.now();
    expect(table.insert({ name: 'b' })).to.deep.equal({ id: 2, name: 'b', made: start, changed: start });
    await clock.advance(1000);
    expect(table.update('2', { name: 'c' })).to.deep.equal({ id: 2, name: 'c', made: start, changed: start + 1000 });
    expect(table.update('3', {})).to.equal(undefined);
    expect([table.rows().map(idOf), table.version()]).to.deep.equal([['1', '2'], 2]);
  });

  it('forgets what is removed, or puts it in its bin', () => {
    const [hard, soft] = [create(), create('gone')];
    expect([hard.remove('1'), hard.remove('1'), hard.find('1')]).to.deep.equal([
      { id: 1, name: 'a' },
      undefined,
      undefined,
    ]);
    soft.remove('1');
    expect(soft.find('1')).to.deep.include({ gone: true, changed: clock.now() });
    expect([soft.rows(), soft.rows(true).length]).to.deep.equal([[], 1]);
    expect(soft.insert({})).to.deep.include({ id: 2, gone: false });
  });

  it('is changed by others on request', async () => {
    const table = create();
    const changes = changesOf({
      things: {
        table,
        keyOf: idOf,
        create: (number) => ({ name: `new ${number}` }),
        change: (number) => ({ name: `changed ${number}` }),
      },
    });
    const print = ({ status, message }: Fault) => json({ message }, status);
    const served = await serve((baseUrl) => simulate({ routes: {}, print, commands: changes }, { baseUrl }));
    try {
      const ask = async (body: object) => {
        const response = await fetch(`${served.url}/simulate/changes`, { method: 'POST', body: JSON.stringify(body) });
        return response.json();
      };
      expect(await ask({ table: 'things', create: 2 })).to.deep.equal({
        created: ['2', '3'],
        updated: [],
        removed: [],
      });
      expect(await ask({ table: 'things', update: 1, remove: 1 })).to.deep.equal({
        created: [],
        updated: ['1'],
        removed: ['3'],
      });
      expect(table.rows().map(({ name }) => name)).to.deep.equal(['changed 2', 'new 0']);
      expect(await ask({ table: 'nothing' })).to.deep.equal({ message: 'There are the tables things.' });
      expect(await ask({ table: 'things', create: -1 }))
        .to.have.property('message')
        .that.matches(/^The body must be like/);
    } finally {
      await served.stop();
    }
  });
});

describe('rows made from members', () => {
  const members = membersOf({
    a: { type: 'string', nullable: false },
    b: { type: 'string', domain: { text: { longest: 10, nonEmpty: true } } },
    c: { type: 'integer', range: ['0', '100'] },
    d: { type: 'string', native: 'd.name', values: ['x'] },
    e: { type: 'datetime' },
  });
  const make = () => makeRows(200, columnsFor(members));

  it('have every hostile text, and nulls in each column at other rows', () => {
    const rows = make();
    expect(rows.map(({ a }) => a)).to.include.members([...HOSTILE_TEXTS]);
    expect(rows.filter(({ b }) => b === null)).to.have.length(50);
    expect(rows.every(({ b }) => b === null || (String(b).length <= 10 && b !== ''))).to.equal(true);
    expect(new Set(rows.map(({ c }) => c))).to.deep.equal(new Set([0, 1, 7, 100, null]));
    expect(rows.filter(({ b, c }) => b === null && c === null)).to.have.length.below(20);
    expect(rows).to.deep.equal(make());
  });

  it('lack an object all of whose values are null, and have pairs with one time', () => {
    const rows = make();
    expect(new Set(rows.map(({ d }) => JSON.stringify(d)))).to.deep.equal(new Set([undefined, '{"name":"x"}']));
    expect(rows[1]?.e)
      .to.equal(rows[0]?.e)
      .and.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });
});

describe('collections of a simulated provider', () => {
  const official = {
    properties: { id: 'integer', name: 'string(5)', size: ['S', 'M'], owner: 'reference(people)', at: 'datetime' },
    required: ['name'],
    readOnly: ['id'],
  };
  const { boxes } = createCollections({
    clock: createMovableClock(),
    entries: { people: [7, 8] },
    refuse: (complaints) => fault(400, complaints.map(({ reason, member }) => `${member}: ${reason}`).join(', ')),
    absent: (_, id) => fault(404, `${id} is not here.`),
    of: { boxes: { members: describedMembers(official), rows: 9, initial: { size: 'M' }, changed: ['at'] } },
  });

  it('read what can be set, and complain of the rest in the words of the provider', () => {
    expect(boxes.read({ id: 1, name: 'A', at: '2026-01-01T01:00:00+01:00', x: 1 })).to.deep.equal({
      name: 'A',
      at: '2026-01-01T00:00:00Z',
    });
    expect(() => boxes.read({ size: 'L' })).to.throw('size: value, name: missing');
    expect(() => boxes.read({ name: null, at: 'soon' }, {})).to.throw('at: type, name: missing');
    expect(() => boxes.read({ name: 'A'.repeat(6) })).to.throw('name: length');
    expect(boxes.read({}, {})).to.deep.equal({});
    expect(() => boxes.get('10')).to.throw('10 is not here.');
  });

  it('have rows that refer to others, and new ones with the next id', () => {
    expect(new Set(boxes.table.rows().map(({ owner }) => owner))).to.deep.equal(new Set([7, 8, null]));
    expect(boxes.table.insert({ name: 'A' })).to.deep.include({ id: 10, size: 'M', owner: null });
    expect(boxes.create(0)).to.include({ name: 'New 0' }).and.not.have.property('id');
  });

  it('count their changes, keep what is removed as inactive, and outlive the simulator', () => {
    const saved: unknown[] = [];
    const memory = { load: () => saved.at(-1), save: (value: unknown) => void saved.push(value) };
    const start = () =>
      createCollections({
        clock: createMovableClock(),
        refuse: () => undefined,
        absent: (_, id) => fault(404, id),
        of: {
          hooks: {
            members: describedMembers(official),
            rows: 0,
            initial: { version: 0, isActive: true },
            touch: ({ version }) => ({ version: Number(version) + 1 }),
            retired: { isActive: false },
            memory,
          },
        },
      }).hooks.table;
    const first = start();
    first.insert({ name: 'A' });
    first.insert({ name: 'B' });
    first.remove('1');
    const again = start();
    expect(again.find('1')).to.include({ name: 'A', isActive: false, version: 1 });
    expect(again.insert({ name: 'C' })).to.include({ id: 3, isActive: true });
  });

  it('are served, with what the provider reads and stores in its own way', async () => {
    const served = await serve((baseUrl) =>
      simulate(
        {
          print: ({ status, message }) => json({ message }, status),
          routes: recordRoutes('/boxes', boxes, {
            list: () => json(boxes.table.rows()),
            show: ({ name, size }, _call, status) => json({ name, size }, status),
            can: ['get', 'create', 'update'],
            update: 'PUT',
            body: ({ body }) => Object(body.object().box),
            complete: ({ name, ...values }, _call, old) => ({
              ...values,
              name: `${name}${old === undefined ? '!' : '?'}`,
            }),
          }),
        },
        { baseUrl },
      ),
    );
    const ask = async (method: string, path: string, box?: object) => {
      const body = box === undefined ? {} : { body: JSON.stringify({ box }) };
      const response = await fetch(served.url + path, { method, ...body });
      return [response.status, await response.json()];
    };
    const { id } = boxes.table.insert({ name: 'A' });
    try {
      expect(await ask('POST', '/boxes', { name: 'B' })).to.deep.equal([201, { name: 'B!', size: 'M' }]);
      expect(await ask('PUT', `/boxes/${id}`, { name: 'C' })).to.deep.equal([200, { name: 'C?', size: 'M' }]);
      expect(await ask('PUT', '/boxes/99', { name: 'C' })).to.deep.equal([404, { message: '99 is not here.' }]);
      expect(await ask('POST', '/boxes', {})).to.deep.equal([400, { message: 'name: missing' }]);
      expect((await ask('DELETE', `/boxes/${id}`))[0]).to.equal(405);
    } finally {
      await served.stop();
    }
  });

  it('are described in words that are known', () => {
    expect(() => describedMembers({ properties: { id: 'long' } })).to.throw("'long' is no type.");
  });
});

describe('the filter of a simulated provider', () => {
  const rows: readonly TableRow[] = [
    { id: 1, name: 'Zoë', size: '1.50' },
    { id: 2, name: 'zoë', size: '10' },
    { id: 3, name: null, size: null },
  ];
  const rules: FilterRules = {
    field: (name) => (({ id: { type: 'integer' }, name: { type: 'string' }, size: { type: 'number' } }) as const)[name],
  };
  const find = (filter: FilterTree, more: Partial<FilterRules> = {}) =>
    rows.filter(compileFilter(filter, { ...rules, ...more })).map(({ id }) => id);
  const test = (
    field: string,
    operator: Extract<FilterTree, { kind: 'test' }>['operator'],
    ...values: (string | number | null)[]
  ) => ({ kind: 'test', field, operator, values }) as const;

  it('compares by the type of the field', () => {
    expect(find(test('size', '>', '1.6'))).to.deep.equal([2]);
    expect(find(test('size', 'IN', '1.5', '3'))).to.deep.equal([1]);
    expect(find(test('name', 'LIKE', '_o%'))).to.deep.equal([1, 2]);
    expect(find(test('name', 'IS NULL'))).to.deep.equal([3]);
    expect(find(test('name', '=', 'Zoë'))).to.deep.equal([1]);
  });

  it('compares texts as the provider folds them', () => {
    const fold = (text: string) => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
    const loose = { field: () => ({ type: 'string', fold }) as const };
    expect(find(test('name', '=', 'ZOE'), loose)).to.deep.equal([1, 2]);
    expect(find(test('name', 'LIKE', 'ZÖ%'), loose)).to.deep.equal([1, 2]);
    expect(find({ kind: 'not', operand: test('name', 'LIKE', 'Z%') }, loose)).to.deep.equal([]);
  });

  it('does not know what nothing is, unless the provider does', () => {
    const isZoe = test('name', '!=', 'Zoë');
    expect([find(isZoe), find({ kind: 'not', operand: isZoe })]).to.deep.equal([[2], [1]]);
    const ofNull = { '!=': true } as const;
    expect([find(isZoe, { ofNull }), find({ kind: 'not', operand: isZoe }, { ofNull })]).to.deep.equal([[2, 3], [1]]);
    const isBoth: FilterTree = { kind: 'and', operands: [test('id', '>=', 1), isZoe] };
    expect([find(isBoth), find({ kind: 'not', operand: isBoth })]).to.deep.equal([[2], [1]]);
    const isAny: FilterTree = { kind: 'or', operands: [isZoe, test('id', '=', 3)] };
    expect(find(isAny)).to.deep.equal([2, 3]);
    expect([find({ kind: 'and', operands: [] }), find({ kind: 'or', operands: [] })]).to.deep.equal([[1, 2, 3], []]);
  });

  it('joins tests with a field of their own, and tests of the provider', () => {
    const of = {
      type: 'string',
      read: ({ name }: TableRow) => name,
      fold: (text: string) => text.toLowerCase(),
    } as const;
    const isZoe: FilterTree = { ...test('anything', '=', 'ZOË'), of };
    const isFirst: FilterTree = { kind: 'own', holds: ({ id }) => (id === 3 ? undefined : id === 1) };
    const found = (filter: FilterTree) => rows.filter(compileFilter(filter, {})).map(({ id }) => id);
    expect(found({ kind: 'and', operands: [isZoe, isFirst] })).to.deep.equal([1]);
    expect(found({ kind: 'not', operand: isFirst })).to.deep.equal([2]);
  });

  it('refuses fields it does not know, or passes over them', () => {
    expect(() => find(test('nope', '=', 'x'))).to.throw(Fault, "There is no field 'nope'.");
    expect(find(test('nope', '=', 'x'), { unknownFields: 'ignored' })).to.deep.equal([1, 2, 3]);
    const refuse = (message: string, field: string) => new Fault(422, field, message);
    expect(() => find(test('size', '=', 'big'), { refuse }))
      .to.throw(Fault, `'size' is not compared with ["big"].`)
      .with.property('status', 422);
    expect(() => find(test('size', '=', null))).to.throw(Fault);
  });

  it('finds any text by the pattern that was made of it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...HOSTILE_TEXTS), fc.string({ unit: anyCharacter })), (text) => {
        const filter = compileFilter(test('name', 'LIKE', `%${escapePattern(text)}%`), rules);
        expect([filter({ name: `a${text}b` }), filter({ name: text === '' ? null : '' })]).to.deep.equal([true, false]);
      }),
    );
  });

  it('orders by the types of the fields, with nothing where the provider has it', () => {
    const ids = (...terms: Parameters<typeof sortRows>[1]) => sortRows(rows, terms).map(({ id }) => id);
    const bySize = { type: 'number', read: ({ size }: TableRow) => size } as const;
    expect(ids(bySize)).to.deep.equal([3, 1, 2]);
    expect(ids({ ...bySize, descending: true })).to.deep.equal([2, 1, 3]);
    expect(ids({ ...bySize, nulls: 'last' })).to.deep.equal([1, 2, 3]);
    expect(ids({ ...bySize, descending: true, nulls: 'first' })).to.deep.equal([3, 2, 1]);
    const byName = {
      type: 'string',
      read: ({ name }: TableRow) => name,
      fold: (text: string) => text.toLowerCase(),
    } as const;
    expect(ids(byName, { ...bySize, descending: true })).to.deep.equal([3, 2, 1]);
  });
});

describe('the pages of a simulated provider', () => {
  const size = { size: 'size', usual: 3, most: 4 } as const;
  const FAMILIES: Readonly<Record<string, PageStyle>> = {
    offset: { ...size, kind: 'offset', offset: 'from' },
    number: { ...size, kind: 'number', page: 'page' },
    cursor: { ...size, kind: 'cursor', cursor: 'after' },
    link: { ...size, kind: 'link', token: 'token' },
  };
  const POSITION: Readonly<Record<string, string>> = { offset: 'from', number: 'page', cursor: 'after' };

  for (const [name, paging] of Object.entries(FAMILIES)) {
    for (const count of [0, 1, 3, 10]) {
      it(`give each of ${count} rows once, by ${name}`, () => {
        const rows = times(count, (index) => index);
        const found: number[] = [];
        let query: URLSearchParams | undefined = new URLSearchParams({ keep: 'a&b' });
        for (let calls = 0; query !== undefined; calls++) {
          expect(calls).to.be.at.most(count);
          const call: PagedCall = { query, isStuck: false, origin: 'https://toy.example.com', path: '/list' };
          const { next, total, rows: page }: Page<number> = takePage(rows, paging, call);
          found.push(...page);
          expect(total).to.equal(count);
          const position = POSITION[name];
          const following: string | undefined =
            position === undefined ? next && new URL(next).search : next && `keep=a%26b&${position}=${next}`;
          query = following === undefined ? undefined : new URLSearchParams(following);
          expect(query?.get('keep') ?? 'a&b').to.equal('a&b');
        }
        expect(found).to.deep.equal(rows);
      });
    }
  }

  it('are all at once, or as large as may be', () => {
    const rows = times(10, (index) => index);
    const take = (paging: PageStyle, query: Record<string, string>) =>
      takePage(rows, paging, { query: new URLSearchParams(query), isStuck: false }).rows.length;
    const { offset } = FAMILIES;
    if (offset?.kind !== 'offset') throw new Error('There is no such family.');
    expect(take({ kind: 'whole' }, {})).to.equal(10);
    expect(take(offset, { size: '99' })).to.equal(4);
    const refuse = (message: string) => new Fault(422, 'PAGE', message);
    expect(() => take({ ...offset, beyond: 'refused', refuse }, { size: '99' }))
      .to.throw(Fault, 'size is from 1 to 4.')
      .with.property('status', 422);
    for (const [name, value] of [
      ['size', '0'],
      ['size', 'x'],
      ['from', '-1'],
    ] as const) {
      expect(() => take(offset, { [name]: value })).to.throw(Fault);
    }
    expect(() => take({ ...size, kind: 'number', page: 'page' }, { page: '0' })).to.throw(Fault, 'page begins at 1.');
    expect(() => take({ ...size, kind: 'cursor', cursor: 'after' }, { after: '3' })).to.throw(
      Fault,
      'after is none of ours.',
    );
  });

  it('stay as they were while somebody pages, for their time', async () => {
    const clock = createVirtualClock();
    const results = createResults<number>({ most: 2, makeId: (number) => `r${number}`, lifetime: { ms: 1000, clock } });
    const [first, second, third] = [[1], [2], [3]].map((rows) => results.keep(rows));
    expect([first, second, third].map((id = '') => results.find(id))).to.deep.equal([undefined, [2], [3]]);
    await clock.advance(1001);
    expect(results.find('r2')).to.equal(undefined);
  });
});

describe('a table that is kept', () => {
  it('gives no id twice, also after a restart', () => {
    const held: { value?: unknown } = {};
    const memory = { load: () => held.value, save: (value: unknown) => Object.assign(held, { value }) };
    const open = () => createKeptTable({ memory, makeId: (index) => 900 + index });
    const first = open();
    const ids = [first.insert({ name: 'a' }), first.insert({ name: 'b' })].map(({ id }) => String(id));
    first.remove(ids[0] ?? '');
    const second = open();
    second.insert({ name: 'c' });
    expect(second.rows()).to.deep.equal([
      { id: 901, name: 'b' },
      { id: 902, name: 'c' },
    ]);
  });
});

describe('a simulated webhook', () => {
  const event = { id: 1, text: 'ü' };
  const hmac = (algorithm: string, text: string, encoding: 'hex' | 'base64') =>
    createHmac(algorithm, 's').update(text).digest(encoding);

  it('is signed over its body, or over what the provider signs', () => {
    const nowMs = 1_700_000_000_123;
    const plain = signWebhook({ secret: 's', header: 'x-signature', prefix: 'sha256=' }, event, { nowMs });
    expect(plain).to.deep.equal({
      body: JSON.stringify(event),
      headers: {
        'content-type': 'application/json',
        'x-signature': `sha256=${hmac('sha256', JSON.stringify(event), 'hex')}`,
      },
    });
    const timed = signWebhook(
      {
        secret: 's',
        header: 'x-signature',
        algorithm: 'sha1',
        encoding: 'base64',
        timestamp: { header: 'x-at', unit: 'seconds' },
        signed: ({ body, timestamp, url }) => `${timestamp}.${url}.${body}`,
      },
      'raw',
      { nowMs, url: 'https://here.example.com' },
    );
    expect(timed.headers).to.deep.include({
      'x-at': '1700000000',
      'x-signature': hmac('sha1', '1700000000.https://here.example.com.raw', 'base64'),
    });
  });
});
