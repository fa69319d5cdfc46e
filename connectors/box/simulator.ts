import type { Config } from '#connector';
import {
  atHosts,
  bearer,
  type Call,
  changesOf,
  createMovableClock,
  createOfficialJudges,
  type Deviation,
  empty,
  type JsonSchema,
  json,
  type Routes,
  recordRoutes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  takePage,
  undescribed,
  withNullMembers,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { createContent, MOST_BYTES } from './simulator/content.ts';
import { createDrive, type Drive, type Kind, ME } from './simulator/drive.ts';
import { BoxFault, badPage, print } from './simulator/faults.ts';
import { API_HOSTS, createLogin, DOWNLOAD_HOST, UPLOAD_HOSTS } from './simulator/login.ts';
import { search } from './simulator/search.ts';
import { show, sortItems } from './simulator/show.ts';
import { createWebhooks } from './simulator/webhooks.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN } from './simulator/login.ts';
export { deliver, SIGNATURE_KEYS } from './simulator/webhooks.ts';

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION: Config = {};

/** The reasons why Box's description is not the whole truth. */
const DEVIATIONS: readonly Deviation[] = [
  ...undescribed(
    'The log-in and downloads have hosts of their own.',
    ...['GET /api/oauth2/authorize', 'POST /oauth2/token', 'GET /d/1/{link}/download'],
  ),
  {
    operation: 'GET /search',
    unjudged: ['query'],
    reason: 'A range without a bound is a list with an empty number or time, which its schema does not allow.',
  },
  {
    schema: 'ClientError',
    reason: 'The guide to errors has more codes than the description, and a rejected token has no body.',
    change: ({ properties, type: _, ...rest }) => ({
      ...{ ...rest, properties: { ...Object(properties), code: { type: 'string' } } },
    }),
  },
  {
    schema: 'User--Mini',
    reason: 'The creator of the root folder has an empty address.',
    change: (schema) => JSON.parse(JSON.stringify(schema, (word, value) => (word === 'format' ? undefined : value))),
  },
  ...['File', 'Folder', 'WebLink', 'File--Full', 'Folder--Full'].map(
    (schema): Deviation => ({
      schema,
      reason:
        'Members without a value are null in the examples of the description, whose schemas say so of some only. Lists can be empty.',
      change: nullable,
    }),
  ),
];

/** Lets the members of a composition be null, and its lists be empty. */
function nullable({ allOf, ...schema }: JsonSchema): JsonSchema {
  const parts: readonly JsonSchema[] = Array.isArray(allOf) ? allOf : [];
  return { ...schema, allOf: parts.map((part) => withNullMembers(withoutLeast(part))) };
}

function withoutLeast(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema, (word, value) => (word === 'minItems' ? undefined : value)));
}

const createJudge = createOfficialJudges(official, DEVIATIONS);

/** Creates a simulator of one user's files and folders in memory. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { memory, send } = options;
  const clock = createMovableClock();
  const login = createLogin(shareMemory(memory, 'login'), clock);
  const webhooks = createWebhooks(() => drive, { clock, memory: shareMemory(memory, 'webhooks'), send });
  const drive: Drive = createDrive(clock, webhooks.notifyOfChange);
  const content = createContent(drive, clock, (row) => webhooks.notify('file', 'DOWNLOADED', row));
  const api: Routes = {
    'GET /2.0/users/me': () => json({ ...ME, status: 'active', language: 'en', timezone: 'America/Los_Angeles' }),
    'GET /2.0/search': (call) => search(drive, call),
    'GET /2.0/folders/{id}/items': (call) => listItems(drive, call),
    'GET /2.0/files/{id}/content': content.download,
    ...routesOf(drive, 'file'),
    ...routesOf(drive, 'folder'),
    ...webhooks.routes,
  };
  return simulate(
    {
      clock,
      print,
      official: createJudge((path) => path.replace(/^\/(?:api\/)?2\.0\//, '/')),
      authenticate: bearer(login.accepts),
      limits: { bytes: MOST_BYTES + 100_000, parts: 10 },
      headers: { 'box-request-id': '0b1c2d3e4f5a6b7c8' },
      open: { ...login.routes, 'GET /d/1/{link}/download': atHosts([DOWNLOAD_HOST], content.deliverBytes) },
      routes: {
        ...Object.fromEntries(Object.entries(api).map(([key, handler]) => [key, atHosts(API_HOSTS, handler)])),
        'POST /api/2.0/files/content': atHosts(UPLOAD_HOSTS, content.upload),
        'POST /api/2.0/files/{id}/content': atHosts(UPLOAD_HOSTS, content.uploadVersion),
      },
      commands: { ...login.commands, ...changesOf({ files: drive.items.file, folders: drive.items.folder }) },
    },
    options,
  );
}

function routesOf(drive: Drive, kind: Kind): Routes {
  const { table, ...collection } = drive.items[kind];
  const path = `/2.0/${kind}s`;
  return {
    ...recordRoutes(
      path,
      { ...collection, table, get: (id) => drive.get(kind, id) },
      {
        show: (row, call, status) => json(show(drive, row, call, 'single'), status),
        update: 'PUT',
        // Files are created by uploads only.
        can: kind === 'file' ? ['get', 'update'] : ['get', 'create', 'update'],
        complete: (values, _call, old) => drive.settle(kind, values, old),
      },
    ),
    [`DELETE ${path}/{id}`]: ({ params: { id = '' }, query }) => {
      drive.get(kind, id);
      const children = drive.childrenOf(id);
      if (kind === 'folder' && children.length > 0 && query.get('recursive') !== 'true') {
        throw new BoxFault(400, 'folder_not_empty', 'Cannot delete - folder not empty');
      }
      table.remove(id);
      return empty();
    },
  };
}

/** Responds to `GET /folders/{id}/items`, with paging by markers. */
function listItems(drive: Drive, call: Call): SimulatedResponse {
  const { id } = drive.get('folder', call.params.id);
  const paging = { kind: 'cursor', cursor: 'marker', size: 'limit', usual: 100, most: 1000, refuse: badPage } as const;
  const { rows, size, next = '' } = takePage(sortItems(drive.childrenOf(id)), paging, call);
  return json({ entries: rows.map((row) => show(drive, row, call, 'mini')), limit: size, next_marker: next });
}
