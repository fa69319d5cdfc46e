import type { QueryDataSourceParameters } from '@notionhq/client';
import { signWebhookPayload } from '@notionhq/client';
import { expect } from 'chai';
import { defineObject, type WebhookCall } from '#connector';
import { prepareQuery } from '../../src/where/query.ts';
import { type Filter, translator } from './filter.ts';
import { propertyFields } from './properties.ts';
import { toRecord, toRichText } from './values.ts';
import { entered } from './webhooks.ts';

const option = (name: string) => ({ id: name, name });
const PROPERTIES = {
  Name: { id: 'title', name: 'Name', type: 'title', title: {} },
  'No. of items': { id: 'n.%3A', name: 'No. of items', type: 'number', number: {} },
  Done: { id: 'done', name: 'Done', type: 'checkbox', checkbox: {} },
  Stage: { id: 'st', name: 'Stage', type: 'select', select: { options: [option('Won'), option('Lost')] } },
  Due: { id: 'due', name: 'Due', type: 'date', date: {} },
};
const ROWS = defineObject<Filter>({
  fields: {
    last_edited_time: { type: 'datetime', nativeType: 'timestamp', filter: { '<=': 'superset', '>=': 'superset' } },
    ...propertyFields(PROPERTIES, ['last_edited_time']),
  },
  translator,
  shape: { kind: 'cnf' },
  list: { request: () => ({}), read: () => ({ records: [] }), maxPageSize: 100 },
});

/** The compiler checks the filters against the types that Notion generates from its API description. */
const FILTERS: readonly (readonly [where: string, filter: QueryDataSourceParameters['filter']])[] = [
  ["Name = 'Zoë'", { property: 'title', title: { equals: 'Zoë' } }],
  ["Name LIKE '%a%'", { property: 'title', title: { contains: 'a' } }],
  ["Name LIKE 'a%'", { property: 'title', title: { starts_with: 'a' } }],
  ['Name IS NULL', { property: 'title', title: { is_empty: true } }],
  ["Name != 'Ann'", { property: 'title', title: { is_not_empty: true } }],
  ['No_of_items >= 1.50', { property: 'n.%3A', number: { greater_than_or_equal_to: 1.5 } }],
  ['Done = true', { property: 'done', checkbox: { equals: true } }],
  ["Stage = 'Won'", { property: 'st', select: { equals: 'Won' } }],
  ["Stage = 'Unknown'", undefined],
  ['Due_start < 2026-01-31', { property: 'due', date: { on_or_before: '2026-02-01' } }],
  ['Due_start > 2026-01-31', { property: 'due', date: { on_or_after: '2026-01-30' } }],
  [
    "last_edited_time <= '2026-01-31T10:00:00Z' AND (Stage = 'Won' OR Done = true)",
    {
      and: [
        { timestamp: 'last_edited_time', last_edited_time: { on_or_before: '2026-01-31T10:01:00.000Z' } },
        {
          or: [
            { property: 'st', select: { equals: 'Won' } },
            { property: 'done', checkbox: { equals: true } },
          ],
        },
      ],
    },
  ],
];

describe('Notion', () => {
  for (const [where, filter] of FILTERS) {
    it(`is asked for ${where}`, () => expect(prepareQuery({ where }, ROWS).plan.native).to.deep.equal(filter));
  }

  it('gets long texts in pieces that do not divide a character', () => {
    const pieces = toRichText('😀'.repeat(1500));
    expect(pieces.map(({ text }) => Object(text).content.length)).to.deep.equal([2000, 1000]);
  });

  it('shows the properties of a page by their ids', () => {
    const page = toRecord({ id: 'p', properties: { 'No.': { id: 'n.%3A', type: 'number', number: 0 } } });
    expect(page).to.deep.equal({ id: 'p', properties: { 'n%2E%3A': 0 } });
  });

  it('signs webhooks as its own library does', async () => {
    const body = JSON.stringify({ id: 'e', type: 'page.deleted', entity: { id: 'p' }, timestamp: '2026-01-31T10:00Z' });
    const signature = await signWebhookPayload({ body, verificationToken: 'secret_x' });
    const call: WebhookCall = {
      ...{ method: 'POST', url: 'https://example.com/', body: Buffer.from(body) },
      headers: { 'x-notion-signature': signature },
    };
    if (entered.verify === 'unsigned') throw new Error('Webhooks are signed.');
    const known = { now: Date.now(), config: {} };
    expect(entered.verify(call, { ...known, secret: 'secret_x' })).to.equal('genuine');
    expect(entered.verify(call, { ...known, secret: 'secret_y' })).to.equal('forged');
    expect(entered.events(call, {}).map(({ action, objectName }) => [action, objectName])).to.deep.equal([
      ['deleted', 'pages'],
    ]);
  });

  it('sends the verification token before it signs', () => {
    const body = Buffer.from('{"verification_token":"secret_abc"}');
    const notice = (headers: WebhookCall['headers']) =>
      entered.handshake?.({ method: 'POST', url: 'https://example.com/', headers, body }, { secret: '' })?.notice;
    expect(notice({})).to.contain('secret_abc');
    expect(notice({ 'x-notion-signature': 'sha256=00' })).to.equal(undefined);
  });
});
