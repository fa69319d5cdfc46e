import { can, defineConnector, defineObject, type Fields, type Inputs, inputs, json, list } from '#connector';

/** A row as a table of a business has it: ids, names, amounts, dates, a note. */
const FIELDS: Fields = {
  id: { type: 'integer', nullable: false, sortable: true },
  ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`text${at}`, { type: 'string' }])),
  ...Object.fromEntries(Array.from({ length: 5 }, (_, at) => [`number${at}`, { type: 'number' }])),
  ...Object.fromEntries(Array.from({ length: 3 }, (_, at) => [`flag${at}`, { type: 'boolean' }])),
  created: { type: 'datetime', nullable: false },
  updated: { type: 'datetime', nullable: false, filter: can.only('exact', '>=') },
};

const rows = defineObject<Inputs>({
  fields: FIELDS,
  translator: inputs({ updated: { from: 'since' } }),
  list: list<Inputs>({
    request: ({ filter, order, page }) => ({ path: '/rows', query: { ...filter, order, ...page } }),
    rows: (body) => json.array(json.at(body, 'rows'), 'the rows'),
    paging: { kind: 'offset', offset: 'offset', size: 'limit', max: 5000 },
    order: { term: (native, direction) => `${native} ${direction}`, id: 'id' },
  }),
  changes: { updated: 'updated', overlapSeconds: 60 },
});

/** The local provider of measurements of bulk jobs (`provider.ts`): as many rows of 20 fields as its configuration says. */
export default defineConnector({
  key: 'wide',
  id: 990202,
  contract: 1,
  name: 'Wide',
  description: 'A provider of measurements.',
  hub: 'general',
  auth: { type: 'custom', headers: (config) => ({ 'x-rows': String(config.rows) }) },
  configuration: [
    { key: 'base.url', type: 'url', required: true, description: 'Where the provider of the measurement is.' },
    { key: 'rows', type: 'string', required: true, description: 'How many rows it has.' },
  ],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  objects: { rows },
});
