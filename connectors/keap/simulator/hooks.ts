import { randomUUID } from 'node:crypto';
import {
  type Call,
  createCollections,
  describedMembers,
  empty,
  Fault,
  fault,
  json,
  type MovableClock,
  type Routes,
  recordRoutes,
  type SimulatorMemory,
  type SimulatorOptions,
  type TableChange,
  type TableRow,
  writeSeconds,
} from '#connector/simulator';
import described from './described.json' with { type: 'json' };
import { badRequest } from './filter.ts';

/** Names of tables in hooks. Hooks do not report other tables. */
const NOUNS: Readonly<Record<string, string>> = {
  ...{ contacts: 'contact', tags: 'contactGroup', tasks: 'task', opportunities: 'opportunity', orders: 'order' },
  appointments: 'appointment',
};

const MOST_KEYS = 1000;
const ROOT = '/crm/rest/v1/hooks';

interface HookOptions extends Pick<SimulatorOptions, 'send'> {
  readonly memory: SimulatorMemory;
  readonly clock: MovableClock;
}

/**
 * Creates the REST hooks. A hook is verified when its address echoes the secret of a first call. The simulator does not see the responses
 * to its calls. It assumes that they are correct unless `POST /simulate/hooks` says otherwise.
 */
export function createHooks({ memory, send, clock }: HookOptions) {
  const members = describedMembers(described.hooks);
  const { hooks } = createCollections({
    clock,
    refuse: ([{ member = '' } = {}]) => badRequest(`${member} is not valid`),
    absent: () => new Fault(404, 'NO_RECORD', 'Unable to find this Hook'),
    of: { hooks: { members, rows: 0, key: 'key', makeId: () => randomUUID(), memory } },
  });
  let isEchoed = true;
  let waiting = new Map<string, TableKeys>();

  /**
   * Sends an empty call with the secret.
   * @returns the changed values of the hook
   */
  function verify(url: unknown): TableRow {
    const headers = { 'content-type': 'application/json', 'x-hook-secret': randomUUID() };
    send?.({ url: String(url), headers, body: '' });
    return { status: send !== undefined && isEchoed ? 'Verified' : 'Unverified' };
  }

  function flush(): void {
    const batches = waiting;
    waiting = new Map();
    for (const [event_key, { object_type, keys }] of batches) {
      const heard = hooks.table.rows().filter((hook) => hook.eventKey === event_key && hook.status === 'Verified');
      for (let start = 0; start < keys.length; start += MOST_KEYS) {
        const body = JSON.stringify({ event_key, object_type, object_keys: keys.slice(start, start + MOST_KEYS) });
        for (const { hookUrl } of heard) {
          send?.({ url: String(hookUrl), headers: { 'content-type': 'application/json' }, body });
        }
      }
    }
  }

  const routes: Routes = {
    ...recordRoutes(ROOT, hooks, {
      list: () => json(hooks.table.rows()),
      show: (row) => json(row),
      can: ['get', 'create', 'remove'],
      complete: (values) => ({ ...values, ...verify(values.hookUrl) }),
    }),
    [`POST ${ROOT}/{id}/verify`]: ({ params: { id = '' } }) =>
      json(hooks.table.update(id, verify(hooks.get(id).hookUrl))),
  };

  return {
    routes,
    commands: {
      /** `{"echo": false}` makes later verifications fail. `{"status": "Inactive"}` makes all hooks inactive. */
      'POST /simulate/hooks': ({ body }: Call) => {
        const { echo, status } = body.object();
        if (typeof echo === 'boolean') isEchoed = echo;
        else if (status !== 'Inactive') throw fault(400, 'There are {"echo": false} and {"status": "Inactive"}.');
        if (status === 'Inactive')
          for (const { key } of hooks.table.rows()) hooks.table.update(String(key), { status });
        return empty();
      },
    } satisfies Routes,
    /** Sends simultaneous changes together: one batch for each kind of event. */
    notify: (table: string, { key, before, after }: TableChange): void => {
      const noun = NOUNS[table];
      if (noun === undefined) return;
      const event = `${noun}.${before === undefined ? 'add' : after === undefined ? 'delete' : 'edit'}`;
      const batch = waiting.get(event) ?? { object_type: noun, keys: [] };
      if (waiting.size === 0) queueMicrotask(flush);
      waiting.set(event, batch);
      const apiUrl = `https://api.infusionsoft.com/crm/rest/v1/${table}/${key}`;
      batch.keys.push({ id: Number(key), apiUrl, timestamp: writeSeconds(clock.now()) });
    },
  };
}

interface TableKeys {
  readonly object_type: string;
  readonly keys: { readonly id: number; readonly apiUrl: string; readonly timestamp: string }[];
}
