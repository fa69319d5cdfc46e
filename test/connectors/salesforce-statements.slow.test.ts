import { parseQuery as parseWithJetstream } from '@jetstreamapp/soql-parser-js';
import soql from '@salesforce/soql-common/lib/soql-parser/soql-parser.js';
import { expect } from 'chai';
import fc from 'fast-check';
import type { ObjectSpec } from '#connector';
import { type Connection, fieldOf, type Provider, startProvider } from '#connector/testing';
import salesforce from '../../connectors/salesforce/index.ts';
import { compileCondition } from '../../connectors/salesforce/simulator/condition.ts';
import { CONNECTED } from '../../connectors/salesforce/simulator/samples.ts';
import { OBJECTS } from '../../connectors/salesforce/simulator/schema.ts';
import { parseStatement } from '../../connectors/salesforce/simulator/statement.ts';
import { createSimulator } from '../../connectors/salesforce/simulator.ts';
import type { ProviderRequest } from '../../src/connector/contract.ts';
import { type PreparedQuery, prepareQuery } from '../../src/where/index.ts';
import { withoutThreads } from '../../suite/discover.ts';
import { filtersOn, printFilter } from '../../suite/filters.ts';

const OBJECT_NAMES = ['Account', 'Contact', 'Opportunity', 'Task'];
const FILTERS = 1000;
const PARENT = '0015g0000000001AAA';
/** What the language takes. */
const LONGEST_FILTER = 16_384;

const salesforceParser = soql.SOQLParser({ isApex: false, isMultiCurrencyEnabled: true, apiVersion: 62 });

/** Salesforce's own parser: strict. */
function findFaults(statement: string): readonly unknown[] {
  const result = salesforceParser.parseQuery(statement);
  return result.getParserErrors();
}

describe('every statement that the Salesforce connector writes', () => {
  let simulator: Provider;
  let connection: Connection;

  before(async () => {
    simulator = await startProvider(salesforce, createSimulator, CONNECTED);
    connection = simulator.connect();
  });
  after(() => simulator.stop());

  for (const name of OBJECT_NAMES) {
    it(`is SOQL to two parsers and to the simulator: ${name}`, async () => {
      const object = await connection.describe(name);
      const filters = filtersOn({ object, rows: await listRows(connection, object) });
      let pushed = 0;
      fc.assert(
        fc.property(filters, (filter) => {
          const where = printFilter(filter);
          fc.pre(Buffer.byteLength(where) <= LONGEST_FILTER);
          const query = prepareQuery({ where, orderBy: 'Id desc' }, object);
          if (query.plan.pushed !== undefined) pushed++;
          assertStatement(name, statementOf(object, query));
        }),
        { numRuns: FILTERS, seed: 7 },
      );
      expect(pushed, 'filters with a pushed part').to.be.above(FILTERS / 2);
    });
  }

  for (const [parent, child, of] of [
    ['Account', 'Contacts', 'Contact'],
    ['Opportunity', 'Tasks', 'Task'],
    ['Account', 'Sites__r', 'Site__c'],
  ] as const) {
    it(`is SOQL to two parsers and to the simulator: ${parent}/…/${child}`, async () => {
      const outline = (await connection.describe(parent)).children?.[child];
      const object = await outline?.describe?.(withoutThreads(connection.context));
      if (object === undefined) throw new Error(`There is no ${child} below ${parent}.`);
      const rows = await listRows(connection, await connection.describe(of));
      fc.assert(
        fc.property(filtersOn({ object, rows }), (filter) => {
          const where = printFilter(filter);
          fc.pre(Buffer.byteLength(where) <= LONGEST_FILTER);
          const statement = statementOf(object, prepareQuery({ where, orderBy: 'Id desc' }, object), PARENT);
          expect(statement).to.match(new RegExp(` FROM ${of} WHERE \\w+ = '${PARENT}'(?: AND | ORDER BY )`));
          assertStatement(of, statement);
        }),
        { numRuns: FILTERS / 2, seed: 7 },
      );
    });
  }

  it('is checked by a parser that tells wrong from right', () => {
    for (const where of ['Name IS NULL', "Name = 'a' AND Name = 'b' OR Name = 'c'", "Name = 'it's'"]) {
      expect(findFaults(`SELECT Id FROM Account WHERE ${where}`), where).not.to.deep.equal([]);
    }
  });
});

function assertStatement(name: string, statement: string): void {
  expect(findFaults(statement), statement).to.deep.equal([]);
  expect(parseWithJetstream(statement).sObject).to.equal(name);
  const { where } = parseStatement(statement);
  const object = OBJECTS[name];
  // Refuses literals that the type of the field does not take.
  if (where !== undefined && object !== undefined) {
    compileCondition(where, { object, findRow: () => undefined, fold: (text) => text });
  }
}

function statementOf(object: ObjectSpec, { plan, fields }: PreparedQuery, parentId?: string): string {
  const { list } = object;
  if (list === undefined || !('request' in list)) throw new Error('The object has no list.');
  const { native: filter, parameters, orderBy } = plan;
  const input = { filter, parameters, fields, orderBy, limit: 200, ...(parentId !== undefined && { parentId }) };
  return readStatement(list.request(input, { 'api.version': '62.0' }));
}

/** Out of the URL, or out of the body where the URL would be too long. */
function readStatement({ query, json }: ProviderRequest): string {
  if (query !== undefined) return String(query.q);
  const part: { readonly url: string } = Object(json).compositeRequest[0];
  return new URL(part.url, 'https://unused.example.com').searchParams.get('q') ?? '';
}

async function listRows(connection: Connection, object: ObjectSpec) {
  const fields = Object.keys(object.fields).map((name) => fieldOf(object, name));
  const page = await connection.list(object, { fields, limit: 2000 });
  return page.records.map((record) => Object(record));
}
