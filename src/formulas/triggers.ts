import type { Knex } from 'knex';
import type { Clock } from '../clock.ts';
import type { EventSource, NewEvent } from '../events/model.ts';
import type { Triggered } from '../events/triggered.ts';
import { compileCondition, type FieldSpec, prepareCondition, type RowTest } from '../where/index.ts';
import type { NewExecution, StepValue } from './executions/model.ts';
import { insertNew, turnsOf } from './executions/run-store.ts';
import type { StartLimit } from './executions/start-limit.ts';
import type { Program, Programs, RunnableInstance } from './programs.ts';
import { listReferences, resolveValue, toText } from './references.ts';

/** A formula instance that something at an element instance starts. */
export interface Target {
  readonly instance: RunnableInstance;
  readonly program: Program;
}

interface EventTarget extends Target {
  readonly matches: RowTest;
  readonly namesSchemaChanges: boolean;
}

/** The targets of an account, by the id of the element instance that starts them. */
interface TargetIndex {
  readonly events: ReadonlyMap<number, readonly EventTarget[]>;
  readonly requests: ReadonlyMap<number, readonly RequestTarget[]>;
}

interface RequestTarget extends Target {
  readonly method: string;
  /** Matches the path of a request below the base path. */
  readonly path: RegExp;
}

const TEXT = { type: 'string', nullable: true } as const satisfies FieldSpec;
/** Fields of an event that `where` of an event trigger may name. */
const EVENT_FIELDS = {
  fields: {
    objectType: TEXT,
    eventType: TEXT,
    objectId: TEXT,
    elementKey: TEXT,
    hubKey: TEXT,
    date: { type: 'datetime', nullable: false },
  },
} as const;

const NO_TARGETS: readonly never[] = [];
const ACTIONS: ReadonlySet<string> = new Set(['created', 'updated', 'deleted', 'unknown']);
/** Starts only formulas whose trigger names it, because it is about no record. */
const SCHEMA_CHANGED = 'schema.changed';

interface TriggerPorts {
  readonly programs: Pick<Programs, 'get' | 'listRunning'>;
  readonly startLimit: StartLimit;
  readonly mayWorkIn: MayWorkIn;
  readonly clock: Pick<Clock, 'now'>;
  /** Called when executions are committed. */
  readonly wake: () => void;
}

/** Returns whether a user may work in an account now: the own one, or for administrators of the organization another one. */
export type MayWorkIn = (user: { readonly accountId: number; readonly userId: number }) => Promise<boolean>;

export type Triggers = ReturnType<typeof createTriggers>;

/** Finds the formulas that an event or a request starts. What an account has of them is in memory. */
export function createTriggers({ programs, startLimit, mayWorkIn, clock, wake }: TriggerPorts) {
  const indexes = new WeakMap<readonly RunnableInstance[], Promise<TargetIndex>>();

  async function indexOf(accountId: number): Promise<TargetIndex> {
    const running = await programs.listRunning(accountId);
    const known = indexes.get(running);
    if (known !== undefined) return known;
    const built = buildIndex(programs, running);
    indexes.set(running, built);
    // A failure is not kept: the next event tries again.
    built.catch(() => indexes.delete(running));
    return built;
  }

  /**
   * Returns the targets that something in an account may start. The owner of a formula instance of another account may have lost that
   * right, or never have had it: a trigger may name any id. Each owner costs one query, however many formula instances name the account.
   */
  async function listAllowed<One extends Target>(accountId: number, targets: readonly One[]): Promise<readonly One[]> {
    const others = targets.filter(({ instance }) => instance.accountId !== accountId);
    if (others.length === 0) return targets;
    const allowed = new Set<number>();
    for (const userId of new Set(others.map(({ instance }) => instance.userId)))
      if (await mayWorkIn({ accountId, userId })) allowed.add(userId);
    return targets.filter(({ instance }) => instance.accountId === accountId || allowed.has(instance.userId));
  }

  return {
    /** Returns the executions that an event starts, to be stored in the transaction of the event. Undefined: none. */
    ofEvent: async (event: NewEvent, source: EventSource, eventId: string): Promise<Triggered | undefined> => {
      const isOfSchema = event.type === SCHEMA_CHANGED;
      if (!isOfSchema && !ACTIONS.has(actionOf(event))) return undefined;
      const { events } = await indexOf(event.accountId);
      const targets = events.get(event.instanceId) ?? NO_TARGETS;
      if (targets.length === 0) return undefined;
      const createdAt = new Date(clock.now());
      const shown = toEvent(event, source, createdAt);
      const isWanted = ({ matches, namesSchemaChanges }: EventTarget) =>
        matches(shown) && (!isOfSchema || namesSchemaChanges);
      const matching = targets.filter(isWanted);
      const trigger = eventValues(event, shown, eventId);
      const executions: NewExecution[] = [];
      for (const target of await listAllowed(event.accountId, matching)) {
        const refusal = await startLimit.take(target.instance);
        executions.push({ ...toExecution(target, trigger, createdAt), refusal });
      }
      if (executions.length === 0) return undefined;
      return {
        turns: turnsOf(executions),
        insert: async (via: Knex) => void (await insertNew(via, executions)),
        committed: wake,
      };
    },

    /** Returns the targets of requests on an element instance. */
    ofRequests: async (accountId: number, instanceId: number): Promise<readonly RequestTarget[]> =>
      (await indexOf(accountId)).requests.get(instanceId) ?? NO_TARGETS,

    listAllowed,
  };
}

/** Returns a new execution of a target. */
export function toExecution(
  { instance, program }: Target,
  trigger: readonly StepValue[],
  createdAt: Date,
): NewExecution {
  const { accountId, id: formulaInstanceId, singleThreaded: serial } = instance;
  return { accountId, formulaInstanceId, formula: program.key, version: program.version, serial, trigger, createdAt };
}

async function buildIndex(
  programs: TriggerPorts['programs'],
  running: readonly RunnableInstance[],
): Promise<TargetIndex> {
  const events = new Map<number, EventTarget[]>();
  const requests = new Map<number, RequestTarget[]>();
  for (const instance of running) {
    const program = await programs.get(instance.formula, instance.version);
    const { type, properties } = program?.trigger ?? {};
    if (program === undefined || properties === undefined || (type !== 'event' && type !== 'elementRequest')) continue;
    const elementInstanceId = Number(resolveProperty(program, instance, properties.elementInstanceId));
    const target = { instance, program };
    if (type === 'event') {
      const namesSchemaChanges = listOf(properties.eventTypes).some((name) => name.toLowerCase() === SCHEMA_CHANGED);
      push(events, elementInstanceId, { ...target, matches: toTest(properties), namesSchemaChanges });
    } else {
      const method = String(properties.method ?? '').toUpperCase();
      const path = toPattern(resolveProperty(program, instance, properties.api));
      push(requests, elementInstanceId, { ...target, method, path });
    }
  }
  return { events, requests };
}

function push<Item>(into: Map<number, Item[]>, key: number, item: Item): void {
  into.set(key, [...(into.get(key) ?? []), item]);
}

/** A property of a trigger may refer to variables only. */
export function resolveProperty(
  { variables }: Pick<Program, 'variables'>,
  { configuration }: Pick<RunnableInstance, 'configuration'>,
  value: unknown,
): string {
  if (typeof value === 'string' && listReferences(value).length === 0) return value;
  try {
    const empty = { steps: {}, stepNames: new Set<string>(), trigger: undefined, info: {} };
    return toText(resolveValue(value, { ...empty, config: configuration, variables }));
  } catch {
    // The formula names a variable that it does not have: nothing starts it.
    return '';
  }
}

/** The limits that a trigger sets to its events. A filter that cannot be read matches nothing; its template was refused. */
function toTest({ objectTypes, eventTypes, where }: Readonly<Record<string, unknown>>): RowTest {
  const tests: RowTest[] = [];
  for (const [name, wanted] of [
    ['objectType', objectTypes],
    ['eventType', eventTypes],
  ] as const) {
    const values = listOf(wanted).map((value) => value.toLowerCase());
    if (values.length > 0) tests.push((event) => values.includes(String(event[name]).toLowerCase()));
  }
  if (typeof where === 'string' && where.trim() !== '') {
    try {
      const condition = prepareCondition(where, EVENT_FIELDS);
      if (condition !== undefined) tests.push(compileCondition(condition));
    } catch {
      return () => false;
    }
  }
  return (event) => tests.every((test) => test(event));
}

/** Returns the items of a list, or of a text with commas. */
export function listOf(value: unknown): readonly string[] {
  const items = Array.isArray(value) ? value : toText(value).split(',');
  return items.map((item) => toText(item).trim()).filter((item) => item !== '');
}

const ANY_HUB = '(?:/hubs/[^/]+)?';

/** The pattern of a path: `{id}` stands for one segment, and `/hubs/{hub}` may stand before it or not. */
function toPattern(api: string): RegExp {
  const [path = ''] = api.replace(/^\/?/, '/').split('?', 1);
  const rest = path.replace(/^\/hubs\/[^/]+(?=\/)/, '');
  const source = rest
    .split('/')
    .map((segment) => (/^\{.*\}$/.test(segment) ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');
  return new RegExp(`^${ANY_HUB}${source}/?$`);
}

type ShownEvent = ReturnType<typeof toEvent>;

function actionOf({ type }: NewEvent): string {
  return type === SCHEMA_CHANGED ? type : type.slice(type.lastIndexOf('.') + 1);
}

function toEvent(event: NewEvent, { elementKey, hub }: EventSource, now: Date) {
  return {
    date: (event.timestamp ?? now).toISOString(),
    elementKey,
    eventType: actionOf(event).toUpperCase(),
    hubKey: hub,
    objectId: event.objectId ?? null,
    objectType: event.objectName ?? event.type.slice(0, event.type.lastIndexOf('.')),
  };
}

/** The values of the trigger step of an event (formulas.md, 7). */
function eventValues({ instanceId, raw, object }: NewEvent, event: ShownEvent, eventId: string): readonly StepValue[] {
  return [
    [['type'], 'event'],
    [['eventId'], eventId],
    [['instanceId'], instanceId],
    [['event'], event],
    [['body'], { message: { instance_id: instanceId, events: [event], raw: raw ?? object ?? null } }],
  ];
}
