import { createHmac } from 'node:crypto';
import { JastBuilder } from '@atlaskit/jql-ast';
import { expect } from 'chai';
import type { ObjectSpec, WebhookCall } from '#connector';
import { HOSTILE_TEXTS } from '#connector/simulator';
import { allFields, failureOf, type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import { DOCUMENT } from './adf.ts';
import jira from './index.ts';
import type { Jql } from './jql.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';
import { registeredWebhooks } from './webhooks.ts';

/** The user of the simulator is in Berlin. */
const CASES: readonly (readonly [where: string, jql: string])[] = [
  ["id = '10010'", 'id = "10010"'],
  ["id NOT IN ('1', '2')", 'id not in ("1", "2")'],
  ["status = 'Done'", 'status = "Done"'],
  ["status = 'To Do' AND NOT (priority = 'High')", '(status = "To Do" AND priority != "High")'],
  ["assignee = 'a\\\"b'", 'assignee = "a\\\\\\"b"'],
  ["summary = 'Add the button to page-2'", 'summary ~ "Add button"'],
  ["summary LIKE 'Add the button%'", 'summary ~ "Add"'],
  ["summary LIKE '%lost the button today%'", 'summary ~ "button"'],
  ["created >= '2026-01-31T08:30:15Z'", 'created >= "2026-01-31 09:30"'],
  ["created < '2026-07-01T08:30:15Z'", 'created <= "2026-07-01 10:31"'],
  // The clocks in Berlin go back at 01:00 UTC.
  ["created >= '2026-10-25T00:30:00Z'", 'created >= "2026-10-25 00:30"'],
  ["duedate >= '2026-02-28'", 'due >= "2026-02-28"'],
  ['customfield_10010 > -2.5', 'cf[10010] > "-2.5"'],
  [
    'resolution IS NULL OR resolution IS NOT NULL AND duedate IS NULL',
    '(resolution is EMPTY OR (resolution is not EMPTY AND due is EMPTY))',
  ],
];

describe('Jira', () => {
  let provider: Provider;
  let issues: ObjectSpec;

  before(async () => {
    provider = await startProvider(jira, createSimulator, DEMO_CONFIGURATION);
    issues = await provider.connect().describe('issues');
  });
  after(() => provider.stop());

  const asked = (where: string) =>
    (prepareQuery({ where }, issues).plan.queries ?? []).map(
      ({ native }) => (native as Jql | undefined)?.print(() => true) ?? '',
    );
  const errorsIn = (jql: string) => new JastBuilder().build(jql).errors;

  for (const [where, jql] of CASES) {
    it(`asks ${where} as ${jql}, which is JQL`, () => {
      expect(asked(where)).to.deep.equal([jql]);
      expect(errorsIn(jql)).to.deep.equal([]);
    });
  }

  it('asks nothing about names that the site does not have, and texts without a whole word', () => {
    for (const where of ["status = 'Nowhere'", "summary LIKE '%part%'", "summary = 'a-b'", "key = 'no key'"]) {
      expect(asked(where), where).to.satisfy((queries: readonly string[]) => queries.every((jql) => jql === ''));
    }
  });

  it('prints JQL for every hostile text', () => {
    for (const text of HOSTILE_TEXTS) {
      const literal = `'${text.replaceAll("'", "''")}'`;
      for (const where of [`assignee = ${literal}`, `summary = ${literal}`, `id IN ('7', ${literal})`]) {
        for (const jql of asked(where).filter((jql) => jql !== '')) expect(errorsIn(jql), jql).to.deep.equal([]);
      }
    }
  });

  it('searches again without the issues that do not exist', async () => {
    const connection = provider.connect();
    const names = (where: string) =>
      connection.listAll(issues, { filter: prepareQuery({ where }, issues).plan.queries?.[0]?.native });
    const [all, some] = [await names("id != '999'"), await names("id IN ('30001', '999')")];
    expect([all.length, some.map(({ id }) => id)]).to.deep.equal([120, ['30001']]);
    expect(connection.requests.filter((request) => request.includes('bulkfetch')).length).to.be.greaterThan(1);
  });

  it('changes a status by the transition that leads there, and names the statuses that can be reached', async () => {
    const connection = provider.connect();
    const fields = allFields(issues);
    const [issue] = (await connection.list(issues, { limit: 1 })).records;
    const id = String(Object(issue).id);
    const changed = await connection.run(issues.update, {
      id,
      values: { status: { name: 'Done' }, summary: 'x' },
      fields,
    });
    expect(changed).to.nested.include({ 'status.name': 'Done', summary: 'x' });
    const failure = await failureOf(
      connection.run(issues.update, { id, values: { status: { name: 'Nowhere' } }, fields }),
    );
    expect(failure.message).to.match(
      /^No transition of this issue leads to this status\. Its transitions lead to: .+\.$/,
    );
  });

  it('shows the text of documents, and writes paragraphs', () => {
    const text = (value: string) => ({ type: 'text', text: value });
    const paragraph = (...content: unknown[]) => ({ type: 'paragraph', content });
    const document = {
      type: 'doc',
      version: 1,
      content: [
        paragraph(
          text('Hello '),
          { type: 'mention', attrs: { id: '1', text: '@Mia' } },
          { type: 'hardBreak' },
          text('you'),
        ),
        {
          type: 'bulletList',
          content: [{ type: 'listItem', content: [paragraph(text('one')), paragraph(text('two'))] }],
        },
        {
          type: 'tableRow',
          content: [
            { type: 'tableCell', content: [paragraph(text('a'))] },
            { type: 'tableCell', content: [] },
          ],
        },
        { type: 'mediaSingle', content: [{ type: 'media', attrs: { id: 'x' } }] },
      ],
    };
    expect(DOCUMENT.read(document)).to.equal('Hello @Mia\nyou\n- one\n  two\na | ');
    for (const line of ['', 'a', 'a\n\nb', '\n', ...HOSTILE_TEXTS]) {
      expect(DOCUMENT.read(DOCUMENT.write(line)), line).to.equal(line);
    }
  });

  it('verifies the token of registered webhooks', () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = (claims: object, secret = 'secret') => {
      const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
      return `Bearer ${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    };
    const verdict = (authorization?: string) => {
      const call: WebhookCall = {
        method: 'POST',
        url: 'https://x',
        headers: { authorization },
        body: Buffer.from('{}'),
      };
      const { verify } = registeredWebhooks;
      return verify === 'unsigned' ? verify : verify(call, { secret: 'secret', now: 1_800_000_000_000, config: {} });
    };
    expect([
      verdict(token({})),
      verdict(token({ exp: 1_800_000_100 })),
      verdict(token({ exp: 1_700_000_000 })),
    ]).to.deep.equal(['genuine', 'genuine', 'stale']);
    expect([verdict(token({}, 'other')), verdict('Bearer x.y'), verdict()]).to.deep.equal([
      'forged',
      'forged',
      'unsigned',
    ]);
  });
});
