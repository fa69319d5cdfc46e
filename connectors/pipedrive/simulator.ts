import {
  type Collection,
  changesOf,
  createMovableClock,
  createOfficialJudges,
  Fault,
  json,
  type Routes,
  recordRoutes,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  writeSeconds,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { showFields } from './simulator/custom-fields.ts';
import { conform, listV1, listV2, pageOf, search, show } from './simulator/lists.ts';
import { createLogin } from './simulator/login.ts';
import { createRecords, KINDS, type Kind } from './simulator/records.ts';
import { COMPANY_ID, createWebhooks } from './simulator/webhooks.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, DEMO_API_TOKEN } from './simulator/login.ts';

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION = {};

const reason = 'The log-in has a host of its own, and is in no description.';
const createJudge = createOfficialJudges(official, [
  { operation: 'GET /oauth/authorize', unjudged: ['query', 'response'], reason },
  { operation: 'POST /oauth/token', unjudged: ['body', 'response'], reason },
]);
/** Creates a simulator of a Pipedrive account in memory. README.md lists the sources. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { memory, send } = options;
  const clock = createMovableClock();
  const login = createLogin(clock, shareMemory(memory, 'login'));
  const webhooks = createWebhooks(clock, send, shareMemory(memory, 'webhooks'));
  const records = createRecords(clock, (kind, change) =>
    webhooks.report(kind.entity, change, (row) => show(kind, row)),
  );
  const changeable = Object.entries(records).map(([name, each]) => [
    name,
    { ...each, create: (number: number) => ({ ...each.create(number), add_time: writeSeconds(clock.now()) }) },
  ]);
  const routes = Object.entries(KINDS).map(([name, kind]) => routesOf(name, kind, records[name]));
  return simulate(
    {
      clock,
      authenticate: login.authenticate,
      open: login.routes,
      official: createJudge(),
      print: ({ status, message, headers }) =>
        json({ success: false, error: message, error_info: HELP, data: null, additional_data: null }, status, headers),
      routes: {
        'GET /v1/users/me': () =>
          json({ success: true, data: conform({ ...records.users?.get('1'), ...COMPANY }, 'Me') }),
        ...webhooks.routes,
        ...(Object.assign({}, ...routes) as Routes),
      },
      commands: { ...login.commands, ...changesOf(Object.fromEntries(changeable)) },
    },
    options,
  );
}

const HELP = 'Please check developers.pipedrive.com for more information about Pipedrive API.';
const COMPANY = { company_id: COMPANY_ID, company_name: 'Demo', company_domain: 'demo', company_country: 'EE' };

function routesOf(name: string, kind: Kind, collection: Collection | undefined): Routes {
  if (collection === undefined) return {};
  const path = `/${kind.v1 ? '' : 'api/'}${kind.v1 ? 'v1' : 'v2'}/${name}`;
  const routes: Routes = {
    // A search is no record.
    [`GET ${path}/search`]: (call) => search(kind, collection, call),
    ...recordRoutes(path, collection, {
      show: (row, _call, status) => json({ success: true, data: show(kind, row) }, status),
      list: (call) => (kind.v1 ? listV1 : listV2)(kind, collection, call),
      createdStatus: name === 'products' ? 201 : 200,
      update: kind.v1 ? 'PUT' : 'PATCH',
      // Custom fields that a body does not name keep their values.
      complete: (values, _call, old) =>
        'custom_fields' in values
          ? { ...values, custom_fields: { ...Object(old?.custom_fields), ...Object(values.custom_fields) } }
          : values,
    }),
    [`DELETE ${path}/{id}`]: ({ params: { id = '' } }) => {
      if (collection.get(id).is_deleted === true) throw new Fault(404, 'not_found', 'The record was deleted');
      collection.table.remove(id);
      return json({ success: true, data: kind.v1 ? true : { id: Number(id) } });
    },
    [`GET /api/v2/${kind.fields}`]: (call) => pageOf(showFields('name'), call, (rows) => rows),
  };
  return Object.fromEntries(Object.entries(routes).filter(([route]) => Object.hasOwn(official.operations, route)));
}
