import { randomUUID } from 'node:crypto';
import {
  type Answer,
  type Call,
  empty,
  Fault,
  fault,
  json,
  type MovableClock,
  type Routes,
  type SimulatorMemory,
  type SimulatorOptions,
  type TableChange,
} from '#connector/simulator';
import { badRequest } from './filter.ts';
import { wholeSeconds } from './rows.ts';

interface Hook {
  readonly key: string;
  readonly eventKey: string;
  readonly hookUrl: string;
  readonly status: 'Unverified' | 'Verified' | 'Inactive';
  readonly secret: string;
}

const VERBS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...['appointment', 'company', 'contactGroup', 'invoice', 'invoice.payment', 'leadsource', 'note', 'order'],
      ...['product', 'subscription', 'task'],
    ].map((noun) => [noun, 'add delete edit']),
  ),
  ...{ contact: 'add delete edit redact', opportunity: 'add delete edit stage_move', user: 'activate add edit' },
};

/** As `GET /hooks/event_keys` lists them. Source: the enumeration of a published client. */
const EVENT_KEYS = [
  ...Object.entries(VERBS).flatMap(([noun, verbs]) => verbs.split(' ').map((verb) => `${noun}.${verb}`)),
  ...['contactGroup.applied', 'contactGroup.removed'],
].sort();

/** What hooks call the rows of a table. Of the others they do not tell. */
const NOUNS: Readonly<Record<string, string>> = {
  ...{ contacts: 'contact', tags: 'contactGroup', tasks: 'task', opportunities: 'opportunity', orders: 'order' },
  appointments: 'appointment',
};

const MOST_KEYS = 1000;

interface HookOptions extends Pick<SimulatorOptions, 'send'> {
  readonly memory: SimulatorMemory;
  readonly clock: MovableClock;
}

/**
 * REST hooks. A hook is verified when whoever is at its address echoes the secret of a first call. Nobody is told the answers of what is
 * sent: unless `POST /simulate/hooks` says otherwise, they are taken for right ones.
 */
export function createHooks({ memory, send, clock }: HookOptions) {
  const hooks = new Map<string, Hook>(Object(memory.load()).hooks);
  let isEchoed = true;
  let waiting = new Map<string, TableKeys>();

  function put(hook: Hook): Hook {
    hooks.set(hook.key, hook);
    memory.save({ hooks: [...hooks] });
    return hook;
  }

  /** An empty call with the secret. */
  function verify(hook: Hook): Hook {
    const secret = randomUUID();
    const status = send !== undefined && isEchoed ? 'Verified' : 'Unverified';
    const headers = { 'content-type': 'application/json', 'x-hook-secret': secret };
    send?.({ url: hook.hookUrl, headers, body: '' });
    return put({ ...hook, secret, status });
  }

  function find({ params: { key = '' } }: Call): Hook {
    const hook = hooks.get(key);
    if (hook === undefined) throw new Fault(404, 'NO_RECORD', 'Unable to find this Hook');
    return hook;
  }

  function flush(): void {
    const batches = waiting;
    waiting = new Map();
    for (const [event_key, { object_type, keys }] of batches) {
      const heard = [...hooks.values()].filter((hook) => hook.eventKey === event_key && hook.status === 'Verified');
      for (let start = 0; start < keys.length; start += MOST_KEYS) {
        const body = JSON.stringify({ event_key, object_type, object_keys: keys.slice(start, start + MOST_KEYS) });
        for (const { hookUrl: url } of heard) send?.({ url, headers: { 'content-type': 'application/json' }, body });
      }
    }
  }

  const routes: Routes = {
    'GET /crm/rest/v1/hooks/event_keys': () => json(EVENT_KEYS),
    'GET /crm/rest/v1/hooks': () => json([...hooks.values()].map(show)),
    'POST /crm/rest/v1/hooks': (call) =>
      shown(verify({ key: randomUUID(), ...readHook(call), status: 'Unverified', secret: '' })),
    'GET /crm/rest/v1/hooks/{key}': (call) => shown(find(call)),
    'PUT /crm/rest/v1/hooks/{key}': (call) => shown(verify({ ...find(call), ...readHook(call) })),
    'DELETE /crm/rest/v1/hooks/{key}': (call) => {
      hooks.delete(find(call).key);
      memory.save({ hooks: [...hooks] });
      return empty();
    },
    'POST /crm/rest/v1/hooks/{key}/verify': (call) => shown(verify(find(call))),
    'POST /crm/rest/v1/hooks/{key}/delayedVerify': (call) => {
      const hook = find(call);
      if (call.headers['x-hook-secret'] !== hook.secret) throw badRequest('X-Hook-Secret does not match');
      return shown(put({ ...hook, status: 'Verified' }));
    },
  };

  return {
    routes,
    commands: {
      /** `{"echo": false}`: what is verified from now on fails; `{"status": "Inactive"}`: what all hooks are. */
      'POST /simulate/hooks': ({ body }: Call) => {
        const { echo, status } = body.object();
        if (typeof echo === 'boolean') isEchoed = echo;
        else if (status !== 'Inactive') throw fault(400, 'There are {"echo": false} and {"status": "Inactive"}.');
        if (status === 'Inactive') for (const hook of hooks.values()) put({ ...hook, status });
        return empty();
      },
    } satisfies Routes,
    /** What happens at once is told at once: batches of one kind of event. */
    tell: (table: string, { key, before, after }: TableChange): void => {
      const noun = NOUNS[table];
      if (noun === undefined) return;
      const event = `${noun}.${before === undefined ? 'add' : after === undefined ? 'delete' : 'edit'}`;
      const batch = waiting.get(event) ?? { object_type: noun, keys: [] };
      if (waiting.size === 0) queueMicrotask(flush);
      waiting.set(event, batch);
      const apiUrl = `https://api.infusionsoft.com/crm/rest/v1/${table}/${key}`;
      batch.keys.push({ id: Number(key), apiUrl, timestamp: wholeSeconds(clock.now()) });
    },
  };
}

interface TableKeys {
  readonly object_type: string;
  readonly keys: { readonly id: number; readonly apiUrl: string; readonly timestamp: string }[];
}

function show({ secret: _, ...hook }: Hook) {
  return hook;
}

function shown(hook: Hook): Answer {
  return json(show(hook));
}

function readHook({ body }: Call): Pick<Hook, 'eventKey' | 'hookUrl'> {
  const { eventKey, hookUrl } = body.object();
  if (typeof eventKey !== 'string' || !EVENT_KEYS.includes(eventKey)) throw badRequest('eventKey is not valid');
  if (typeof hookUrl !== 'string' || !URL.canParse(hookUrl)) throw badRequest('hookUrl is not valid');
  return { eventKey, hookUrl };
}
