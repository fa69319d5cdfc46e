import type { Config } from '#connector';
import {
  type Answer,
  bearer,
  type Call,
  changesOf,
  createBudget,
  createMovableClock,
  empty,
  json,
  type Routes,
  type Simulator,
  type SimulatorMemory,
  type SimulatorOptions,
  simulate,
  takePage,
} from '#connector/simulator';
import { createContent, MOST_BYTES } from './simulator/content.ts';
import { createDrive, type Drive, type ItemChange } from './simulator/drive.ts';
import { createEvents, happeningsOf } from './simulator/events.ts';
import { badPage, invalid, print } from './simulator/faults.ts';
import { API_HOSTS, at, createLogin, DOWNLOAD_HOST, UPLOAD_HOSTS } from './simulator/login.ts';
import { type Kind, ME, ROOT_ID } from './simulator/rows.ts';
import { oneOf, search } from './simulator/search.ts';
import { printTime, SORTS, show, sortItems } from './simulator/show.ts';
import { createWebhooks } from './simulator/webhooks.ts';
import { createFolder, findItem, getItem, removeItem, updateItem } from './simulator/writes.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN } from './simulator/login.ts';
export { deliver, SIGNATURE_KEYS } from './simulator/webhooks.ts';

/** What an instance on the simulator has; `DEMO_ACCESS_TOKEN` is its access token. */
export const DEMO_CONFIGURATION: Config = {};

export interface BoxSimulatorOptions extends SimulatorOptions {
  /** How long a new item stays out of the search; with Box some ten minutes. Default 0, so that tests need not wait. */
  readonly indexDelayMs?: number;
  /** Of the user; Box takes 1000. Default: any. */
  readonly callsPerMinute?: number;
}

/** The files and folders of one user in memory. */
export function createSimulator({ baseUrl, memory, send, ...options }: BoxSimulatorOptions): Simulator {
  const { indexDelayMs = 0, callsPerMinute: calls } = options;
  const clock = createMovableClock();
  const login = createLogin(partOf(memory, 'login'), clock);
  const drive: Drive = createDrive(clock, (change) => tell(change));
  const events = createEvents(drive, clock);
  const webhooks = createWebhooks({ drive, clock, memory: partOf(memory, 'webhooks'), ...(send && { send }) });
  const content = createContent(drive, clock, (row) => {
    events.add('downloaded', row);
    webhooks.tell('downloaded', row);
  });

  function tell(change: ItemChange): void {
    for (const happening of happeningsOf(change, drive)) {
      events.add(happening, change.after);
      webhooks.tell(happening, change.after, change.before);
    }
  }

  const api: Routes = {
    'GET /2.0/users/me': () => json(describeUser()),
    'GET /2.0/search': (call) => search({ drive, indexedUntilMs: () => clock.now() - indexDelayMs }, call),
    'GET /2.0/events': events.list,
    'POST /2.0/folders': (call) => createFolder(drive, call),
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
      ...(calls !== undefined && { budget: createBudget({ calls, windowMs: 60_000, clock }) }),
      authenticate: bearer(login.accepts),
      limits: { bytes: MOST_BYTES + 100_000, parts: 10 },
      headers: { 'box-request-id': '0b1c2d3e4f5a6b7c8' },
      open: { ...login.routes, 'GET /d/1/{link}/download': at([DOWNLOAD_HOST], content.deliverBytes) },
      routes: {
        ...Object.fromEntries(Object.entries(api).map(([key, handler]) => [key, at(API_HOSTS, handler)])),
        'POST /api/2.0/files/content': at(UPLOAD_HOSTS, content.upload),
        'POST /api/2.0/files/{id}/content': at(UPLOAD_HOSTS, content.uploadVersion),
      },
      commands: {
        'POST /simulate/end-sessions': () => {
          login.endSessions();
          return empty();
        },
        ...changesOf({
          files: changeable(drive, 'file', (number) => `New ${number}.txt`),
          folders: changeable(drive, 'folder', (number) => `New ${number}`),
        }),
      },
    },
    { baseUrl },
  );
}

/** Of what is kept for several. */
function partOf(memory: SimulatorMemory | undefined, name: string): SimulatorMemory | undefined {
  return (
    memory && {
      load: () => Object(memory.load())[name],
      save: (value) => memory.save({ ...Object(memory.load()), [name]: value }),
    }
  );
}

function routesOf(drive: Drive, kind: Kind): Routes {
  const path = `/2.0/${kind}s/{id}`;
  return {
    [`GET ${path}`]: (call) => getItem(drive, kind, call),
    [`PUT ${path}`]: (call) => updateItem(drive, kind, call),
    [`DELETE ${path}`]: (call) => removeItem(drive, kind, call),
  };
}

const SIZED = { size: 'limit', usual: 100, most: 1000, refuse: badPage } as const;

/** `GET /folders/{id}/items`: by offset or by marker. */
function listItems(drive: Drive, call: Call): Answer {
  const { query } = call;
  const { id } = findItem(drive, 'folder', call);
  const sort = oneOf(query, 'sort', SORTS);
  const direction = oneOf(query, 'direction', ['ASC', 'DESC']) ?? 'ASC';
  const all = sortItems(drive.childrenOf(String(id)), sort ?? 'name', direction);
  if (query.get('usemarker') === 'true') {
    if (query.has('offset')) throw invalid('offset', 'Only one of offset and marker can be used');
    if (id === ROOT_ID && sort !== null)
      throw invalid('sort', 'Not supported for marker-based pagination on the root folder');
    const { rows, size, next = '' } = takePage(all, { ...SIZED, kind: 'cursor', cursor: 'marker' }, call);
    return json({ entries: rows.map((row) => show(drive, row, call, 'mini')), limit: size, next_marker: next });
  }
  const { rows, total, size, start } = takePage(all, { ...SIZED, kind: 'offset', offset: 'offset' }, call);
  const order = [
    { by: 'type', direction: 'ASC' },
    { by: sort ?? 'name', direction },
  ];
  const entries = rows.map((row) => show(drive, row, call, 'mini'));
  return json({ total_count: total, entries, offset: start, limit: size, order });
}

function changeable(drive: Drive, kind: Kind, nameOf: (number: number) => string) {
  return {
    table: drive.tables[kind],
    keyOf: ({ id }: Readonly<Record<string, unknown>>) => String(id),
    create: (number: number) => ({ name: nameOf(number) }),
    change: (number: number) => ({ name: nameOf(number).replace('New', 'Changed') }),
  };
}

function describeUser() {
  const created = printTime(Date.parse('2015-04-09T19:32:40Z'));
  return {
    ...{ ...ME, created_at: created, modified_at: created, language: 'en', timezone: 'America/Los_Angeles' },
    ...{ space_amount: MOST_BYTES, space_used: 0, max_upload_size: MOST_BYTES, status: 'active', job_title: '' },
    ...{
      phone: '',
      address: '',
      avatar_url: `https://app.box.com/api/avatar/large/${ME.id}`,
      notification_email: null,
    },
  };
}
