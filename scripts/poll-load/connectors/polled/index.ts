import {
  type ConfigField,
  can,
  defineConnector,
  defineObject,
  type Inputs,
  inputs,
  json,
  list,
  settings,
} from '#connector';

const CONFIGURATION = [
  { key: 'base.url', type: 'url', required: true, description: 'Where the provider of the measurement is.' },
  { key: 'tenant', type: 'string', required: true, description: 'Whose records.' },
  { key: 'api.key', type: 'string', required: true, secret: true, description: 'Any text.' },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);
const TIME = { type: 'datetime', nullable: false, sortable: true, domain: { step: 'millisecond' } } as const;

const things = defineObject<Inputs>({
  fields: {
    id: { type: 'string', nullable: false, sortable: true },
    version: { type: 'integer', nullable: false },
    text: { type: 'string', nullable: false },
    updated: { ...TIME, filter: can.only('exact', '>=') },
    created: TIME,
  },
  translator: inputs({ updated: { from: 'since' } }),
  list: list<Inputs>({
    request: ({ filter, order, page }, config) => ({
      path: `/tenants/${setting(config, 'tenant')}/things`,
      query: { ...filter, order, ...page },
    }),
    rows: (body) => json.array(json.at(body, 'things'), 'the things'),
    paging: { kind: 'offset', offset: 'offset', size: 'limit', max: 200 },
    order: { term: (native, direction) => `${native} ${direction}`, id: 'id' },
  }),
  changes: { updated: 'updated', created: 'created', overlapSeconds: 60 },
});

/** The local provider of measurements and failure tests of polling (`provider.ts`): records of many tenants, which change. */
export default defineConnector({
  key: 'polled',
  id: 990201,
  contract: 1,
  name: 'Polled',
  description: 'A provider of measurements.',
  hub: 'general',
  auth: { type: 'custom', headers: (config) => ({ 'x-api-key': setting(config, 'api.key') }) },
  configuration: CONFIGURATION,
  baseUrl: (config) => setting(config, 'base.url'),
  hosts: (config) => [new URL(setting(config, 'base.url')).host],
  probe: { path: '/me' },
  objects: { things },
  polls: ['things'],
});
