import type { Knex } from 'knex';
import type { Clock } from '../../clock.ts';
import { listPage, type PageQuery } from '../../db/listing.ts';
import type { PoolShares } from '../../db/pool-shares.ts';
import { AppError, pointer } from '../../errors.ts';
import { isJsonObject } from '../../numbers/exact-json.ts';
import { missing } from '../../shared-errors.ts';
import { prepareSql } from '../../where/index.ts';
import { LIMITS } from '../model.ts';
import type { Program, Programs, RunnableInstance } from '../programs.ts';
import { toExecution } from '../triggers.ts';
import {
  type ExecutionScope,
  type ExecutionStore,
  FILTERABLE_EXECUTION,
  type StoredExecution,
  type StoredStep,
} from './execution-store.ts';
import { createHeavyRuns, HEAVY_CHARACTERS } from './heavy-runs.ts';
import type { ExecutionKey, NewExecution, RunPosition, StepValue } from './model.ts';
import type { AwaitedExecution } from './resource-responses.ts';
import { createRunStore, type RunStore } from './run-store.ts';
import type { StartLimit } from './start-limit.ts';

interface ExecutionPorts {
  readonly store: ExecutionStore;
  readonly runs: RunStore;
  readonly startLimit: StartLimit;
  readonly programs: Programs;
  readonly shares: PoolShares;
  readonly clock: Clock;
  /** Called when executions are committed. */
  readonly wake: () => void;
}

export interface InstanceOfFormula {
  readonly accountId: number;
  readonly formulaInstanceId: number;
  /** The formula that the path names. */
  readonly formulaId?: number | undefined;
}

/** A page of a list with the number of all entries. */
export interface CountedPage<Row> {
  readonly rows: readonly Row[];
  readonly last: Row | undefined;
  readonly total: number;
}

/** Maximum number of characters of the copies of `raw` that the events of one request are stored with. */
const MOST_COPIED = 16 * 1024 * 1024;
const NEVER = new AbortController().signal;
/** Seconds after which an instance that was started too often may be started again. */
const RETRY_SECONDS = 10;

type ExecutionQuery = Pick<PageQuery, 'where' | 'afterId' | 'limit'>;

export type Executions = ReturnType<typeof createExecutions>;

/** Starts executions of formula instances, and shows and steers them. */
export function createExecutions(ports: ExecutionPorts) {
  const { store, runs, startLimit, programs, shares, clock, wake } = ports;
  const enterHeavy = createHeavyRuns();

  /** Stores executions. Few of those with large inputs are stored at a time, because each is in memory several times meanwhile. */
  async function storeNew(accountId: number, executions: readonly NewExecution[], characters: number) {
    const end = characters > HEAVY_CHARACTERS ? await enterHeavy(accountId, NEVER) : undefined;
    try {
      return await runs.start(executions);
    } finally {
      end?.();
    }
  }

  /** @throws AppError NOT_FOUND */
  async function getInstance({
    accountId,
    formulaInstanceId,
    formulaId,
  }: InstanceOfFormula): Promise<RunnableInstance> {
    const instance = await programs.findInstance(accountId, formulaInstanceId);
    if (instance === undefined || (formulaId !== undefined && instance.formula.id !== formulaId))
      throw missing('formula instance', formulaInstanceId);
    return instance;
  }

  /** @throws AppError NOT_FOUND */
  async function get(key: ExecutionKey): Promise<StoredExecution> {
    const found = await store.find(key);
    if (found === undefined) throw missing('execution', key.id);
    return found;
  }

  async function listIn(scope: ExecutionScope, query: ExecutionQuery): Promise<CountedPage<StoredExecution>> {
    const condition = query.where === undefined ? undefined : prepareSql(query.where, FILTERABLE_EXECUTION);
    return shares.list(scope.accountId, async (via) => {
      const page = await listPage(FILTERABLE_EXECUTION, query, (filter) => store.list(via, scope, filter));
      return { ...page, total: await store.count(via, scope, { condition }) };
    });
  }

  async function stepsOf(
    execution: StoredExecution,
    query: { readonly afterId?: number | undefined; readonly limit: number },
    how: { readonly onlyFaults?: boolean; readonly withValues: boolean },
  ): Promise<CountedPage<StoredStep>> {
    return shares.list(execution.accountId, async (via) => {
      const found = await store.listSteps(via, execution, { ...query, ...how, limit: query.limit + 1 });
      const rows = found.slice(0, query.limit);
      const total = await store.countSteps(via, execution, how);
      return { rows, last: found.length > query.limit ? rows.at(-1) : undefined, total };
    });
  }

  return {
    getInstance,
    get,

    /**
     * Starts executions of an instance with an input.
     * @returns their ids
     * @throws AppError NOT_FOUND; CONFLICT while the formula or the instance is not active; REQUEST_INVALID, PAYLOAD_TOO_LARGE;
     * RATE_LIMITED
     */
    start: async (key: InstanceOfFormula, body: unknown): Promise<readonly number[]> => {
      const instance = await getInstance(key);
      const program = await getRunnable(programs, instance);
      const createdAt = new Date(clock.now());
      const characters = assertSize(body);
      const inputs = toInputs(program, body);
      await assertMayStart(instance, inputs.length);
      const executions = inputs.map((trigger) => toExecution({ instance, program }, trigger, createdAt));
      const ids = await storeNew(key.accountId, executions, characters * inputs.length);
      wake();
      return ids;
    },

    /**
     * Starts one execution for whose end a request waits.
     * @throws AppError NOT_FOUND, CONFLICT, PAYLOAD_TOO_LARGE, RATE_LIMITED
     */
    startAwaited: async (key: InstanceOfFormula, args: unknown, chain: number): Promise<AwaitedExecution> => {
      const instance = await getInstance(key);
      const program = await getRunnable(programs, instance);
      const characters = assertSize(args);
      await assertMayStart(instance, 1);
      const createdAt = new Date(clock.now());
      const execution = toExecution({ instance, program }, [[['args'], args]], createdAt);
      const [id = 0] = await storeNew(key.accountId, [{ ...execution, chain, isAwaited: true }], characters);
      wake();
      return { accountId: key.accountId, id, createdAt };
    },

    /** @throws AppError NOT_FOUND, WHERE_SYNTAX, WHERE_INVALID */
    list: async (key: InstanceOfFormula, query: ExecutionQuery): Promise<CountedPage<StoredExecution>> => {
      const { accountId, id } = await getInstance(key);
      return listIn({ accountId, formulaInstanceId: id }, query);
    },

    /** Lists failed executions with their failed steps. */
    listFailed: async (scope: Omit<ExecutionScope, 'status'>, query: ExecutionQuery) => {
      const page = await listIn({ ...scope, status: 'failed' }, query);
      const faults = await shares.list(scope.accountId, (via) =>
        store.listFaults(
          via,
          scope.accountId,
          page.rows.map(({ id }) => id),
        ),
      );
      return { ...page, faults: Map.groupBy(faults, ({ executionId }) => executionId) };
    },

    steps: async (
      key: ExecutionKey,
      query: { readonly afterId?: number | undefined; readonly limit: number },
      how: { readonly onlyFaults?: boolean; readonly withValues: boolean },
    ) => stepsOf(await get(key), query, how),

    /** @throws AppError NOT_FOUND */
    getStep: async (accountId: number, id: number): Promise<StoredStep> => {
      const found = await store.findStep(accountId, id);
      if (found === undefined) throw missing('executed step', id);
      return found;
    },

    /** @throws AppError NOT_FOUND; CONFLICT for one that has ended */
    cancel: async (key: ExecutionKey): Promise<StoredExecution> => {
      await get(key);
      if (await store.cancel(key, new Date(clock.now()))) return get(key);
      const { id, status } = await get(key);
      throw new AppError('CONFLICT', `Execution ${id} cannot be cancelled: it is ${status}.`);
    },

    /**
     * Runs the input of an execution again, as a new execution.
     * @throws AppError NOT_FOUND; CONFLICT for one that has not ended, or whose instance is not active; REQUEST_INVALID for a step that it
     * never ran
     */
    retry: async (key: ExecutionKey, stepName: string | undefined): Promise<StoredExecution> => {
      const old = await get(key);
      if (old.status === 'pending' || old.status === 'queued')
        throw new AppError('CONFLICT', `Execution ${old.id} has not ended: it is ${old.status}.`);
      const instance = await getInstance({ accountId: old.accountId, formulaInstanceId: old.formulaInstanceId });
      const input = await runs.findInput({ ...old, executionAt: old.createdAt });
      if (input === undefined) throw missing('execution', old.id);
      // From a step on, the execution keeps its version, because the values before it do.
      const program =
        stepName === undefined
          ? await getRunnable(programs, instance)
          : await programs.get(input.formula, input.version);
      if (program === undefined) throw missing('formula', old.formulaId);
      const createdAt = new Date(clock.now());
      const execution = toExecution({ instance, program }, input.trigger, createdAt);
      await assertMayStart(instance, 1);
      const id = await runs.transaction(async (via) => {
        const [started = 0] = await createRunStore(via).start([execution]);
        if (stepName !== undefined) await beginAt(via, old, { id: started, createdAt }, { program, stepName });
        return started;
      });
      wake();
      return get({ accountId: old.accountId, id });
    },

    /** @throws AppError NOT_FOUND; CONFLICT where no retry is planned */
    forgetRetry: async (key: ExecutionKey): Promise<StoredExecution> => {
      await get(key);
      if (await store.forgetRetry(key, new Date(clock.now()))) return get(key);
      throw new AppError('CONFLICT', `Execution ${key.id} has no planned retry.`);
    },
  };

  /** @throws AppError RATE_LIMITED */
  async function assertMayStart(instance: RunnableInstance, count: number): Promise<void> {
    const refusal = await startLimit.take(instance, count);
    if (refusal !== undefined) throw new AppError('RATE_LIMITED', refusal, { retryAfterSeconds: RETRY_SECONDS });
  }

  /** Lets a new execution begin at a step, with the values of the steps before it. */
  async function beginAt(
    via: Knex,
    old: StoredExecution,
    created: { readonly id: number; readonly createdAt: Date },
    { program, stepName }: { readonly program: Program; readonly stepName: string },
  ): Promise<void> {
    const copied = await store.copySteps(via, old, created, stepName);
    if (copied === undefined) {
      const message = `Execution ${old.id} did not run a step '${stepName}'.`;
      throw new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('query', 'from'), message }] });
    }
    const { key: formula, version } = program;
    const frame = { id: 0, formula, version, stack: [stepName], loops: {}, hasFailed: false };
    const position: RunPosition = { frames: [frame], ordinal: copied, retries: 0, begun: 0 };
    await via('formula_run')
      .where({ account_id: old.accountId, id: created.id })
      .update({ position: JSON.stringify(position) });
  }
}

/** @throws AppError CONFLICT while the formula or the instance is not active */
async function getRunnable(programs: Programs, instance: RunnableInstance): Promise<Program> {
  if (!instance.formulaActive) throw new AppError('CONFLICT', `Formula ${instance.formula.id} is not active.`);
  if (!instance.active) throw new AppError('CONFLICT', `Formula instance ${instance.id} is not active.`);
  const program = await programs.get(instance.formula, instance.version);
  if (program === undefined) throw missing('formula', instance.formula.id);
  return program;
}

/** The values of the trigger of each execution that an input starts (formulas.md, 7). */
function toInputs({ trigger }: Program, body: unknown): readonly (readonly StepValue[])[] {
  switch (trigger?.type) {
    case 'scheduled':
      return [[[['type'], 'scheduled']]];
    case 'event':
      return toEventInputs(body);
    case 'elementRequest':
      return [[[['type'], 'request'], ...(isJsonObject(body) ? requestValues(body) : [])]];
    default:
      // A body of JSON null is an input, too.
      return [[[['args'], body === undefined ? {} : body]]];
  }
}

/** Returns the size of an input in characters. @throws AppError PAYLOAD_TOO_LARGE */
function assertSize(input: unknown): number {
  const size = JSON.stringify(input ?? null).length;
  if (size > LIMITS.triggerBytes)
    throw new AppError('PAYLOAD_TOO_LARGE', `The input has ${size} characters; the maximum is ${LIMITS.triggerBytes}.`);
  return size;
}

/** @throws AppError REQUEST_INVALID for a body without events */
function toEventInputs(body: unknown): readonly (readonly StepValue[])[] {
  const message = isJsonObject(body) && isJsonObject(body.message) ? body.message : undefined;
  const events = message?.events;
  if (message === undefined || !Array.isArray(events) || !events.every(isJsonObject) || events.length === 0) {
    const text = 'The formula is started by events. Send { "message": { "instance_id": …, "events": [ … ] } }.';
    throw new AppError('REQUEST_INVALID', text, {
      details: [{ path: pointer('body', 'message', 'events'), message: text }],
    });
  }
  const { instance_id: instanceId, raw } = message;
  const copied = JSON.stringify(raw ?? null).length * events.length;
  if (copied > MOST_COPIED) {
    const text = `The member raw is stored for each of the ${events.length} events, which are ${copied} characters together; the maximum is ${MOST_COPIED}.`;
    throw new AppError('PAYLOAD_TOO_LARGE', text);
  }
  return events.map((event): readonly StepValue[] => [
    [['type'], 'event'],
    [['instanceId'], instanceId ?? null],
    [['event'], event],
    [['body'], { message: { instance_id: instanceId ?? null, events: [event], raw: raw ?? null } }],
  ]);
}

function requestValues(body: Readonly<Record<string, unknown>>): readonly StepValue[] {
  return ['request', 'response'].flatMap((side) => {
    const given = body[side];
    return isJsonObject(given) ? Object.entries(given).map(([name, value]): StepValue => [[side, name], value]) : [];
  });
}
