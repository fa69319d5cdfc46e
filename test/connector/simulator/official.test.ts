import { expect } from 'chai';
import {
  columnsFor,
  createOfficialJudges,
  type Deviation,
  empty,
  HOSTILE_TEXTS,
  json,
  makeRows,
  type OfficialDescription,
  type SimulatedResponse,
  schemaMembers,
  simulate,
  undescribed,
} from '#connector/simulator';
import { serveSimulator } from '#connector/testing';

const OFFICIAL: OfficialDescription = {
  source: 'a toy',
  version: 'v7',
  operations: {
    'GET /books': {
      query: {
        limit: { type: 'integer', format: 'int32', maximum: 100 },
        'with-deleted': { type: 'boolean' },
        fields: { type: 'array', items: { type: 'string', enum: ['id', 'title'] } },
        shelf: { type: 'string', required: true },
      },
      responses: { 200: { type: 'array', items: { $ref: '#/schemas/Book' } }, default: { $ref: '#/schemas/Problem' } },
    },
    'GET /books/newest': { responses: { 200: { $ref: '#/schemas/Book' } } },
    'POST /books': { body: { $ref: '#/schemas/BookInput' }, responses: { 201: { $ref: '#/schemas/Book' } } },
    'DELETE /books/{id}': { responses: { 204: {} } },
    'GET /sales': {
      query: {
        'page[size]': { type: 'integer' },
        expand: { type: 'array', items: { type: 'string', enum: ['book'] } },
        at: { anyOf: [{ type: 'integer' }, { type: 'object', properties: { gte: { type: 'integer' } } }] },
      },
      responses: { 200: {} },
    },
    'POST /sales': {
      content: 'application/x-www-form-urlencoded',
      body: {
        type: 'object',
        properties: {
          notes: { type: 'object', additionalProperties: { type: 'string' } },
          items: { type: 'array', items: { type: 'object', properties: { book: { type: 'integer' } } } },
        },
      },
      responses: { 200: {} },
    },
    'POST /token': {
      content: 'application/x-www-form-urlencoded',
      body: { type: 'object', required: ['age'], properties: { age: { type: 'integer' } } },
      responses: { 200: {} },
    },
  },
  schemas: {
    Base: { type: 'object', required: ['id'], properties: { id: { type: 'integer', readOnly: true, minimum: 1 } } },
    Book: {
      allOf: [{ $ref: '#/schemas/Base' }],
      type: 'object',
      required: ['title'],
      properties: {
        title: { type: 'string', maxLength: 20 },
        genre: { type: 'string', enum: ['novel', 'poem'] },
        printed: { type: ['string', 'null'], format: 'date' },
        added: { type: 'string', format: 'date-time' },
        author: { $ref: '#/schemas/Author' },
        tags: { type: 'array', items: { type: 'string' } },
      },
    },
    BookInput: { type: 'object', required: ['title'], properties: { title: { type: 'string' } } },
    Author: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } },
    Problem: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } },
  },
};

const BOOK = { id: 1, title: 'One' };

/** Serves a simulator whose responses a test sets, and sends it requests. */
async function judged(deviations: readonly Deviation[] = []) {
  const responses: { next: SimulatedResponse } = { next: json([BOOK]) };
  const respond = () => responses.next;
  const served = await serveSimulator('toy', (options) =>
    simulate(
      {
        official: createOfficialJudges(OFFICIAL, deviations)(),
        print: ({ status, message }) => json({ message }, status),
        routes: {
          'GET /{rest*}': respond,
          'POST /{rest*}': respond,
          'DELETE /{rest*}': respond,
          'PUT /books': respond,
        },
      },
      options,
    ),
  );
  return {
    served,
    exchange: async (request: string, next: SimulatedResponse = json([BOOK]), body?: object | URLSearchParams) => {
      responses.next = next;
      const [method = '', path = ''] = request.split(' ');
      const isForm = body instanceof URLSearchParams;
      const headers = { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' };
      const sent = body && { headers, body: isForm ? body : JSON.stringify(body) };
      const response = await fetch(served.url + path, { method, ...sent });
      const text = await response.text();
      return [response.status, text === '' ? undefined : (JSON.parse(text).message ?? 'fine')];
    },
  };
}

type Judged = Awaited<ReturnType<typeof judged>>;

const SAYS = 'contradicts the official description (v7):';

describe('a simulator with an official description', () => {
  let toy: Judged;
  before(async () => {
    toy = await judged();
  });
  after(() => toy.served.stop());

  it('responds to requests that follow the description', async () => {
    expect(await toy.exchange('GET /books?shelf=a&limit=5&with-deleted=true&fields=id&fields=title')).to.deep.equal([
      200,
      'fine',
    ]);
    expect(await toy.exchange('GET /books?shelf=a&fields=id')).to.deep.equal([200, 'fine']);
    expect(await toy.exchange('POST /books', json(BOOK, 201), { title: 'One' })).to.deep.equal([201, 'fine']);
    expect(await toy.exchange('DELETE /books/7', empty())).to.deep.equal([204, undefined]);
    expect(await toy.exchange('POST /token', json({}), new URLSearchParams({ age: '7' }))).to.deep.equal([200, 'fine']);
    expect(toy.served.takeContradictions()).to.deep.equal([]);
  });

  const WRONG_REQUESTS: readonly (readonly [request: string, reason: string, body?: object | URLSearchParams])[] = [
    ['GET /shelves', 'it has no such operation.'],
    ['PUT /books', 'it has no such operation.'],
    ['GET /books/7', 'it has no such operation.'],
    ['GET /books', "query: it must have required property 'shelf'"],
    ['GET /books?shelf=a&shelves=b', 'query: it must NOT have additional properties: shelves'],
    ['GET /books?shelf=a&limit=x', 'query: /limit must be integer'],
    ['GET /books?shelf=a&limit=101', 'query: /limit must be <= 100'],
    ['GET /books?shelf=a&with-deleted=1.5', 'query: /with-deleted must be boolean'],
    ['GET /books?shelf=a&fields=name', 'query: /fields/0 must be equal to one of the allowed values: id, title'],
    ['POST /books', "body: it must have required property 'title'", {}],
    ['POST /books', 'body: /title must be string', { title: 7 }],
    ['POST /books', 'body: it must NOT have unevaluated properties: titel', { title: 'a', titel: 'b' }],
    ['POST /books', 'the body is not application/json.', new URLSearchParams({ title: 'a' })],
    ['POST /token', 'body: /age must be integer', new URLSearchParams({ age: 'x' })],
    ['DELETE /books/7', 'it has no body.', {}],
  ];

  for (const [request, reason, body] of WRONG_REQUESTS) {
    it(`rejects ${request} ${body === undefined ? '' : JSON.stringify(body)}, because ${reason}`, async () => {
      const message = `The request ${request} ${SAYS} ${reason}`;
      expect(await toy.exchange(request, json([BOOK]), body)).to.deep.equal([400, message]);
      expect(toy.served.takeContradictions()).to.deep.equal([message]);
      expect(toy.served.takeContradictions()).to.deep.equal([]);
    });
  }

  const WRONG_RESPONSES: readonly (readonly [response: SimulatedResponse, reason: string])[] = [
    [json([{ title: 'One' }]), "/0 must have required property 'id'"],
    [json([{ ...BOOK, genre: 'comic' }]), '/0/genre must be equal to one of the allowed values: novel, poem'],
    [json([{ ...BOOK, added: '2024-02-29' }]), '/0/added must match format "date-time"'],
    [json([{ ...BOOK, writer: 'me' }]), '/0 must NOT have unevaluated properties: writer'],
    [json([{ ...BOOK, author: { nom: 'me' } }]), '/0/author must NOT have unevaluated properties: nom'],
    [json([BOOK], 201), 'must be object'],
    [json({ error: 'no' }, 404), "it must have required property 'message'"],
    [{ status: 200, body: 'no JSON' }, 'it must be array'],
  ];

  for (const [response, reason] of WRONG_RESPONSES) {
    it(`fails with a response ${response.status ?? 200} ${String(response.body)} of its own`, async () => {
      const [status, message] = await toy.exchange('GET /books?shelf=a', response);
      expect(status).to.equal(500);
      expect(message).to.include(`to GET /books ${SAYS}`).and.include(reason);
      expect(toy.served.takeContradictions()).to.deep.equal([message]);
    });
  }

  it('judges what came before, too, where it is wrong or comes with another status or from another operation', async () => {
    const asked = async (request: string, response: SimulatedResponse) => (await toy.exchange(request, response))[0];
    const [right, wrong] = [json([BOOK]), json([{ title: 'One' }])];
    for (const [response, status] of [
      [right, 200],
      [right, 200],
      [wrong, 500],
      [wrong, 500],
    ] as const)
      expect(await asked('GET /books?shelf=a', response)).to.equal(status);
    expect(await asked('GET /books?shelf=a', { ...right, status: 404 })).to.equal(500);
    expect(await asked('GET /books/newest', right)).to.equal(500);
    expect(toy.served.takeContradictions()).to.have.lengthOf(4);
  });

  it('accepts errors of an operation whose description has none, but no other status', async () => {
    expect(await toy.exchange('POST /books', json({ message: 'no' }, 409), { title: 'a' })).to.deep.equal([409, 'no']);
    expect(await toy.exchange('DELETE /books/7', json({}, 200))).to.deep.equal([
      500,
      `The simulator's response 200 to DELETE /books/7 ${SAYS} it has no such status.`,
    ]);
    expect(toy.served.takeContradictions()).to.have.lengthOf(1);
  });

  it('checks the form of errors that it throws', async () => {
    const served = await serveSimulator('toy', (options) =>
      simulate(
        {
          official: createOfficialJudges(OFFICIAL)(),
          print: ({ status }) => json({ oops: status }, status),
          authenticate: () => {
            throw new Error('Nobody catches this.');
          },
          routes: {},
        },
        options,
      ),
    );
    await fetch(`${served.url}/books`);
    expect(served.takeContradictions().join()).to.include('to GET /books contradicts');
    await served.stop();
  });

  it('fails the test that stops it, also for what came before a reset', async () => {
    const other = await judged();
    await other.exchange('GET /shelves');
    other.served.reset();
    const error = await other.served.stop().catch((reason: unknown) => String(reason));
    expect(error).to.equal(
      `Error: 1 requests or responses contradict the official description of 'toy':\nThe request GET /shelves ${SAYS} it has no such operation.`,
    );
  });

  it('does not judge troubles and commands', async () => {
    await fetch(`${toy.served.url}/books?shelf=a`, { headers: { 'x-simulate': 'shape' } });
    await fetch(`${toy.served.url}/books?shelf=a`, { headers: { 'x-simulate': 'html' } });
    await toy.served.command('/simulate/clock', { byMs: 1 });
    expect(toy.served.takeContradictions()).to.deep.equal([]);
  });
});

describe('names with brackets', () => {
  let toy: Judged;
  before(async () => {
    toy = await judged();
  });
  after(async () => {
    toy.served.takeContradictions();
    await toy.served.stop();
  });

  for (const query of ['at=7', 'at[gte]=7', 'expand[]=book', 'expand[0]=book', 'page[size]=5']) {
    it(`are members and items in the query ${query}`, async () => {
      expect(await toy.exchange(`GET /sales?${query}`)).to.deep.equal([200, 'fine']);
    });
  }

  for (const query of [
    'at[gte]=x',
    'at[older]=7',
    'expand[]=shelf',
    'expand[0]=shelf',
    'page[size]=x',
    '__proto__[a]=1',
  ]) {
    it(`are judged in the query ${query}`, async () => {
      expect((await toy.exchange(`GET /sales?${query}`))[0]).to.equal(400);
    });
  }

  it('are members and items in a form', async () => {
    const send = (form: string) => toy.exchange('POST /sales', json({}), new URLSearchParams(form));
    expect(await send('notes[a b]=1&notes[c]=&items[0][book]=1&items[1][book]=2')).to.deep.equal([200, 'fine']);
    expect((await send('items[0][book]=x'))[0]).to.equal(400);
    expect((await send('items[0][pages]=1'))[0]).to.equal(400);
  });
});

describe('deviations of a provider from its description', () => {
  const reason = 'Seen in recorded responses.';

  it('leave parts of an operation unjudged, or one that the description lacks', async () => {
    const toy = await judged([
      { operation: 'GET /books', unjudged: ['query', 'errors'], reason },
      ...undescribed(reason, 'GET /login'),
      { operation: 'POST /books', unjudged: ['body', 'response'], reason },
    ]);
    expect(await toy.exchange('GET /books?anything=1')).to.deep.equal([200, 'fine']);
    expect(await toy.exchange('GET /books?anything=1', json({ error: 1 }, 404))).to.deep.equal([404, 'fine']);
    expect(await toy.exchange('GET /login?user=1', json('?', 202))).to.deep.equal([202, 'fine']);
    expect(await toy.exchange('POST /books', json(7), { any: 1 })).to.deep.equal([200, 'fine']);
    await toy.served.stop();
    expect((await toy.exchange('GET /books?shelf=a', json(7)).catch(() => ['stopped']))[0]).to.equal('stopped');
  });

  it('still judge the rest of the operation', async () => {
    const toy = await judged([{ operation: 'GET /books', unjudged: ['query', 'errors'], reason }]);
    expect((await toy.exchange('GET /books?anything=1', json(7)))[0]).to.equal(500);
    toy.served.takeContradictions();
    await toy.served.stop();
  });

  it('add a response that the description lacks, and judge it', async () => {
    const responses = { 202: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } };
    const toy = await judged([{ operation: 'GET /books', responses, reason }]);
    expect(await toy.exchange('GET /books?shelf=a', json({ id: 1 }, 202))).to.deep.equal([202, 'fine']);
    expect((await toy.exchange('GET /books?shelf=a', json({}, 202)))[0]).to.equal(500);
    expect((await toy.exchange('GET /books?shelf=a', json(7)))[0]).to.equal(500);
    toy.served.takeContradictions();
    await toy.served.stop();
  });

  it('join what several say of one operation', async () => {
    const toy = await judged([
      { operation: 'GET /books', unjudged: ['query'], reason },
      { operation: 'GET /books', responses: { 204: {} }, reason },
    ]);
    expect((await toy.exchange('GET /books?anything=1', json([BOOK])))[0]).to.equal(200);
    expect((await toy.exchange('GET /books?anything=1', { status: 204 }))[0]).to.equal(204);
    await toy.served.stop();
  });

  it('change a schema', async () => {
    const change: Deviation = {
      schema: 'BookInput',
      reason,
      change: (schema) => ({ ...schema, required: [] }),
    };
    const toy = await judged([change]);
    expect(await toy.exchange('POST /books', json(BOOK, 201), {})).to.deep.equal([201, 'fine']);
    await toy.served.stop();
  });

  it('name a schema that exists', () => {
    expect(() => createOfficialJudges(OFFICIAL, [{ schema: 'Boo', reason, change: (schema) => schema }])()).to.throw(
      "The official description has no schema 'Boo'.",
    );
  });
});

describe('members of a schema', () => {
  const members = schemaMembers(OFFICIAL, 'Book');

  it('have its types, formats, values, lengths, ranges and requirements', () => {
    const optional = { isReadOnly: false, isRequired: false, isNeverNull: false };
    expect(members).to.deep.equal({
      id: { type: 'integer', range: ['1', 'Infinity'], isReadOnly: true, isRequired: false, isNeverNull: true },
      title: { type: 'string', longest: 20, isReadOnly: false, isRequired: true, isNeverNull: true },
      genre: { type: 'string', values: ['novel', 'poem'], ...optional },
      printed: { type: 'date', ...optional },
      added: { type: 'datetime', ...optional },
      'author.name': { type: 'string', ...optional },
      'author.age': { type: 'integer', ...optional },
      tags: { type: 'array', ...optional },
    });
  });

  it('make rows that follow the schema, with hostile texts', () => {
    const rows = makeRows(80, columnsFor(members));
    expect(rows.map(({ title }) => title)).to.include.members(
      HOSTILE_TEXTS.filter((text) => text.trim() !== '' && text.length <= 20),
    );
    const judge = createOfficialJudges(OFFICIAL)();
    // A table has nulls where the provider leaves out the member.
    const present = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)));
    for (const row of present) {
      const author = Object.fromEntries(Object.entries(Object(row.author)).filter(([, value]) => value !== null));
      judge.judgeResponse({ method: 'GET', path: '/books/newest' }, json({ ...row, author }));
    }
    expect(judge.takeContradictions()).to.deep.equal([]);
  });

  it('are those of a schema that exists', () => {
    expect(() => schemaMembers(OFFICIAL, 'Boo')).to.throw("The official description has no schema 'Boo'.");
  });
});
