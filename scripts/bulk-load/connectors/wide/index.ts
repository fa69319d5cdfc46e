import {
  can,
  defineConnector,
  defineObject,
  type FieldSpec,
  type Fields,
  type Inputs,
  inputs,
  json,
  list,
  path,
  records,
} from '#connector';

const written = { createable: true, updateable: true } as const;

function several(length: number, name: string, type: FieldSpec['type']): Fields {
  return Object.fromEntries(Array.from({ length }, (_, at) => [`${name}${at}`, { ...written, type }]));
}

/** A row as a table of a business has it: ids, names, amounts, dates, a note. Whoever creates one chooses its id. */
const FIELDS: Fields = {
  id: { type: 'integer', nullable: false, sortable: true, createable: true },
  ...several(9, 'text', 'string'),
  ...several(5, 'number', 'number'),
  ...several(3, 'flag', 'boolean'),
  created: { ...written, type: 'datetime', nullable: false },
  updated: { ...written, type: 'datetime', nullable: false, filter: can.only('exact', '>=') },
};

const { create, update } = records({
  get: (id) => ({ path: path`/rows/${id}` }),
  create: { request: (values) => ({ method: 'POST', path: '/rows', json: values }) },
  update: {
    request: (id, values) => ({ method: 'PATCH', path: path`/rows/${id}`, json: values }),
    record: ({ body }) => json.object(body, 'a row'),
  },
});

const rows = defineObject<Inputs>({
  fields: FIELDS,
  translator: inputs({ updated: { from: 'since' } }),
  list: list<Inputs>({
    request: ({ filter, order, page }) => ({ path: '/rows', query: { ...filter, order, ...page } }),
    rows: (body) => json.array(json.at(body, 'rows'), 'the rows'),
    paging: { kind: 'offset', offset: 'offset', size: 'limit', max: 5000 },
    order: { term: (native, direction) => `${native} ${direction}`, id: 'id' },
  }),
  create,
  update,
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
