import { join } from 'node:path';
import { expect } from 'chai';
import { buildSchema } from 'graphql';
import { readDiscovery } from '../../scripts/new-connector/discovery.ts';
import { firstConnector } from '../../scripts/new-connector/first-connector.ts';
import { readGraphql } from '../../scripts/new-connector/graphql.ts';
import { readOData } from '../../scripts/new-connector/odata.ts';
import { chooseOfficial, compareOfficial, type Described } from '../../scripts/new-connector/official.ts';
import { readOpenApi } from '../../scripts/new-connector/openapi.ts';
import { toJsonSchema } from '../../scripts/new-connector/schemas.ts';
import type { OfficialDescription } from '../../src/connector/simulator/index.ts';

const DESCRIPTIONS = join(import.meta.dirname, 'descriptions');
const TICKET = { $ref: '#/schemas/Ticket' };

describe('the facts of an official description', () => {
  let desk: readonly Described[];
  before(async () => {
    desk = await readOpenApi(join(DESCRIPTIONS, 'desk.yaml'));
  });

  const choose = (...operations: readonly string[]) => chooseOfficial(desk, { operations });

  it('are the chosen operations, and the schemas that these reach, without descriptions and examples', () => {
    expect(choose('GET /tickets')).to.deep.equal({
      source: 'Desk',
      version: '2026-01',
      operations: {
        'GET /tickets': {
          query: {
            limit: { type: 'integer', format: 'int32', exclusiveMinimum: 0, maximum: 100 },
            state: { type: 'string', enum: ['open', 'done'], required: true },
            after: { type: 'string' },
          },
          responses: {
            200: {
              type: 'object',
              required: ['tickets'],
              properties: { tickets: { type: 'array', items: TICKET }, after: { type: ['string', 'null'] } },
            },
            default: { $ref: '#/schemas/Failure' },
          },
        },
      },
      schemas: {
        Failure: { type: 'object', properties: { message: { type: 'string' } } },
        Ticket: {
          required: ['id'],
          allOf: [{ $ref: '#/schemas/TicketInput' }],
          properties: {
            id: { type: 'integer', readOnly: true },
            description: { type: 'string' },
            parent: { anyOf: [TICKET, { type: 'null' }] },
            owner: { anyOf: [{ allOf: [{ $ref: '#/schemas/User' }] }, { type: 'null' }] },
          },
        },
        TicketInput: {
          type: 'object',
          properties: {
            state: { type: ['string', 'null'], enum: ['open', 'done', null] },
            due: { type: 'string', format: 'date-time' },
          },
        },
        User: { type: 'object', additionalProperties: false, properties: { name: { type: 'string' } } },
      },
    });
  });

  it('have bodies by their media types, and responses without a body', () => {
    const { operations } = choose('POST /tickets', 'PATCH /tickets/{id}', 'POST /token', 'GET /tickets/{id}');
    const limit = { limit: { type: 'integer', format: 'int32', exclusiveMinimum: 0, maximum: 100 } };
    expect(operations).to.deep.equal({
      'GET /tickets/{id}': { responses: { 200: TICKET } },
      'PATCH /tickets/{id}': { body: { $ref: '#/schemas/TicketInput' }, responses: { 204: {} } },
      'POST /tickets': { query: limit, body: { $ref: '#/schemas/TicketInput' }, responses: { 201: TICKET } },
      'POST /token': {
        content: 'application/x-www-form-urlencoded',
        body: { type: 'object', properties: { code: { type: 'string' } } },
        responses: { 200: { type: 'object' } },
      },
    });
  });

  it('come from all documents of a folder, also of Swagger 2.0 and OpenAPI 3.1', async () => {
    const documents = await readOpenApi(join(DESCRIPTIONS, 'two'));
    expect(chooseOfficial(documents, { operations: ['POST /a', 'GET /b', 'POST /upload'] })).to.deep.equal({
      source: 'First, Second',
      version: '1, 2',
      operations: {
        // The schemas of the first document that is used keep their names.
        'GET /b': {
          responses: { 200: { $ref: '#/schemas/Same' }, default: { $ref: '#/schemas/FailureOfSecond' } },
        },
        'POST /a': {
          query: { q: { type: 'string', required: true } },
          body: { $ref: '#/schemas/Same' },
          responses: { 200: { $ref: '#/schemas/Failure' } },
        },
        'POST /upload': {
          content: 'multipart/form-data',
          body: {
            type: 'object',
            required: ['file'],
            properties: { file: { type: 'string', format: 'binary' }, name: { type: 'string' } },
          },
          responses: { 204: {} },
        },
      },
      schemas: {
        Failure: { type: 'object', properties: { code: { type: 'integer' } } },
        FailureOfSecond: {
          type: ['object', 'null'],
          properties: { message: { type: 'string', minLength: 1 } },
        },
        Same: { type: 'object', properties: { 'a~b/c': { type: 'string' } } },
      },
    });
  });

  it('name their source as the author does', () => {
    const operations = ['DELETE /tickets/{id}'];
    const { source, version } = chooseOfficial(desk, { operations, source: 'desk.example', version: 'May' });
    expect([source, version]).to.deep.equal(['desk.example', 'May']);
  });

  it('have no operation that the description lacks', () => {
    expect(() => choose('GET /tickets', 'GET /users', 'PUT /tickets')).to.throw(
      'No document has the operations GET /users, PUT /tickets. They have GET /tickets, POST /tickets, GET /tickets/{id}, ' +
        'PATCH /tickets/{id}, DELETE /tickets/{id}, POST /token.',
    );
  });

  it('are not read from another file', async () => {
    const file = join(import.meta.dirname, '../../package.json');
    const error = await readOpenApi(file).catch((reason: unknown) => reason);
    expect(error).to.have.property('message', `${file} is not an OpenAPI document: it has no paths.`);
  });
});

describe('the facts of an OData service', () => {
  it('are its entity sets, with the types that these reach', async () => {
    const documents = await readOData(join(DESCRIPTIONS, 'shop.xml'));
    const product = { $ref: '#/schemas/Shop.Product' };
    expect(chooseOfficial(documents, { operations: ['GET /Products', 'PATCH /Products({key})'] })).to.deep.equal({
      source: 'shop',
      version: 'OData 4',
      operations: {
        'GET /Products': {
          responses: {
            200: {
              type: 'object',
              required: ['value'],
              properties: { value: { type: 'array', items: product }, '@odata.nextLink': { type: 'string' } },
            },
          },
        },
        'PATCH /Products({key})': { body: product, responses: { 204: {} } },
      },
      schemas: {
        'Shop.Address': { type: 'object', properties: { Since: { type: ['string', 'null'], format: 'date' } } },
        'Shop.Item': {
          type: 'object',
          required: ['ID'],
          properties: { ID: { type: 'string', format: 'uuid', readOnly: true } },
        },
        'Shop.Product': {
          type: 'object',
          allOf: [{ $ref: '#/schemas/Shop.Item' }],
          properties: {
            Name: { type: 'string', maxLength: 40 },
            Price: { type: ['number', 'null'] },
            Size: { anyOf: [{ $ref: '#/schemas/Shop.Size' }, { type: 'null' }] },
            Maker: { anyOf: [{ $ref: '#/schemas/Shop.Address' }, { type: 'null' }] },
            Tags: { type: 'array', items: { type: 'string' } },
          },
        },
        'Shop.Size': { type: 'string', enum: ['Small', 'Large'] },
      },
    });
  });
});

describe('an enumeration of numbers that a document writes as texts', () => {
  it('has numbers', () => {
    const schema = { type: 'integer', nullable: true, enum: ['5', '10', null] };
    expect(toJsonSchema(schema, (name) => name)).to.deep.equal({ type: ['integer', 'null'], enum: [5, 10, null] });
  });
});

describe('the facts of a discovery document', () => {
  it('are its methods, with uploads at their own paths', async () => {
    const documents = await readDiscovery(join(DESCRIPTIONS, 'shelf.json'));
    const operations = documents.flatMap((document) => Object.keys(document.operations));
    const book = { $ref: '#/schemas/Book' };
    const alt = { type: 'string', enum: ['json', 'media'] };
    const size = { type: 'integer', format: 'int32', minimum: 1, maximum: 50 };
    expect(chooseOfficial(documents, { operations })).to.deep.equal({
      source: 'Shelf API',
      version: 'v2, revision 20260101',
      operations: {
        'DELETE /shelf/v2/books/{book}/notes/{note}': { query: { alt }, responses: { 200: {} } },
        'GET /shelf/v2/books': {
          query: { size, tag: { type: 'array', items: { type: 'string' }, required: true }, alt },
          responses: { 200: book },
        },
        'POST /shelf/v2/books': { query: { alt }, body: book, responses: { 200: book } },
        'POST /upload/shelf/v2/books': {
          query: { alt, uploadType: { type: 'string', required: true } },
          content: 'multipart/related',
          body: book,
          responses: { 200: book },
        },
      },
      schemas: {
        Book: {
          type: 'object',
          properties: {
            id: { type: 'string', readOnly: true },
            pages: { type: 'string', format: 'int64' },
            notes: { type: 'array', items: { $ref: '#/schemas/Note' } },
            labels: { type: 'object', additionalProperties: {} },
          },
        },
        Note: { type: 'object', properties: { text: { type: 'string' } } },
      },
    });
  });
});

describe('the first connector of an official description', () => {
  it('says what the description does not say', async () => {
    const documents = await readOpenApi(join(DESCRIPTIONS, 'desk.yaml'));
    const operations = documents.flatMap((document) => Object.keys(document.operations));
    const choices = { key: 'desk', paging: 'offset', filter: 'infix', auth: 'key' } as const;
    const { source, unknown } = firstConnector(choices, chooseOfficial(documents, { operations }), documents);
    expect(source).to.include("fieldsOf(official, 'Ticket', { create: 'TicketInput', update: 'TicketInput', but: ");
    expect(unknown).to.deep.equal([
      '`tickets`: the member of its response that has the next cursor. The connector reads `next`.',
      '`tickets`: what its parameter `state` finds. The connector takes it for `=`, and checks the rows.',
      'Authentication: the connector has `key`, and the description has apiKey in header x-api-key.',
      'The request that shows whether credentials are right: `probe` lists the first object.',
      'The errors of the provider: `classify` reads the member `message`.',
      'How changes are found, and webhooks.',
      'Limits of calls, and the headers that report them.',
    ]);
  });
});

describe('the first connector of lists whose names meet', () => {
  it('has a name of its own for each, and none that is a word of the language', () => {
    const list = { responses: { 200: { type: 'array', items: { $ref: '#/schemas/A' } } } };
    const paths = ['/export', '/tickets', '/incremental/tickets', '/search/incremental/tickets', '/list'];
    const official: OfficialDescription = {
      ...{ source: 'Desk', version: '1' },
      operations: Object.fromEntries(paths.map((path) => [`GET ${path}`, list])),
      schemas: { A: { type: 'object', properties: { id: { type: 'string' } } } },
    };
    const choices = { key: 'desk', paging: 'offset', filter: 'infix', auth: 'key' } as const;
    const { source } = firstConnector(choices, official, []);
    const names = 'tickets, incremental_tickets, search_incremental_tickets';
    expect(source).to.include(`objects: { export: exportObject, ${names}, list: listObject }`);
    expect(source).to.include('export const exportObject = ');
  });
});

describe('a newer official description', () => {
  const BEFORE: OfficialDescription = {
    source: 'Desk',
    version: '1',
    operations: { 'GET /a': { responses: { 200: { $ref: '#/schemas/A' } } }, 'GET /b': { responses: {} } },
    schemas: {
      A: { type: 'object', required: ['id'], properties: { id: { type: 'integer' }, old: { type: 'string' } } },
      B: { type: 'object' },
    },
  };

  it('is compared by operations and members', () => {
    const after: OfficialDescription = {
      source: 'Desk',
      version: '2',
      operations: {
        'GET /a': { query: { q: { type: 'string' } }, responses: { 200: { $ref: '#/schemas/A' } } },
        'GET /c': { responses: {} },
      },
      schemas: {
        A: { type: 'object', required: ['id'], properties: { id: { type: 'string' }, new: { type: 'boolean' } } },
      },
    };
    expect(compareOfficial(BEFORE, after)).to.deep.equal([
      '~ version: "1" → "2"',
      '+ operation GET /a.query: {"q":{"type":"string"}}',
      '- operation GET /b',
      '+ operation GET /c',
      '~ schema A.id.type: "integer" → "string"',
      '- schema A.old',
      '+ schema A.new: {"type":"boolean"}',
      '- schema B',
    ]);
    expect(compareOfficial(after, after)).to.deep.equal([]);
  });

  it('is shown in short', () => {
    const long = { ...BEFORE, source: 'x'.repeat(200) };
    const [line] = compareOfficial(BEFORE, long);
    expect(line).to.equal(`~ source: "Desk" → "${'x'.repeat(119)}…`);
  });
});

describe('the facts of a GraphQL schema', () => {
  const FILE = join(DESCRIPTIONS, 'shop.graphql');
  const choice = { operations: ['QUERY items', 'MUTATION itemCreate'], types: ['Item', 'ItemInput'] };

  it('are the chosen root fields and types, without what is deprecated or of another type', async () => {
    const { source } = await readGraphql(FILE, choice);
    const schema = buildSchema(source);
    expect(Object.keys(schema.getQueryType()?.getFields() ?? {})).to.deep.equal(['items']);
    const fieldsOf = (name: string) => Object.keys(Object(schema.getType(name)).getFields());
    expect(fieldsOf('Item')).to.deep.equal(['id', 'title', 'colour', 'changed', 'price', 'parent']);
    expect(fieldsOf('ItemInput')).to.deep.equal(['title', 'colour']);
    expect(source).to.include('first: Int = 10').and.include('colour: Colour = RED');
    // The table of search fields stays, in one line.
    expect(source).to.include('title string, updated_at time').and.not.include('Terms of the search');
  });

  it('are also operations and JSON schemas', async () => {
    const { described } = await readGraphql(FILE, choice);
    expect(described.operations['QUERY items']).to.deep.equal({
      query: {
        first: { type: ['integer', 'null'] },
        query: { type: ['string', 'null'] },
        colour: { anyOf: [{ $ref: '#/schemas/Colour' }, { type: 'null' }] },
      },
      responses: { 200: { type: 'array', items: { $ref: '#/schemas/Item' } } },
    });
    expect(described.schemas).to.deep.include({
      Colour: { type: 'string', enum: ['RED', 'BLUE'] },
      ItemInput: {
        type: 'object',
        required: ['title'],
        properties: {
          title: { type: 'string' },
          colour: { anyOf: [{ $ref: '#/schemas/Colour' }, { type: 'null' }] },
        },
      },
    });
  });

  it('name what the schema lacks', async () => {
    const wrong = { operations: ['QUERY orders'], types: ['Item', 'Order'] };
    const error = await readGraphql(FILE, wrong).catch((reason: unknown) => String(reason));
    expect(error).to.equal('Error: The schema lacks QUERY orders, Order.');
  });
});
