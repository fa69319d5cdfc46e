import { Readable } from 'node:stream';
import type { Knex } from 'knex';
import { type Clock, SYSTEM_CLOCK } from '../../src/clock.ts';
import { createPartitions } from '../../src/db/partitions.ts';
import { createExecutionStore } from '../../src/formulas/executions/execution-store.ts';
import { createExecutions } from '../../src/formulas/executions/executions.ts';
import { createRunStore, type RunStore } from '../../src/formulas/executions/run-store.ts';
import { createStartLimit } from '../../src/formulas/executions/start-limit.ts';
import { showValues } from '../../src/formulas/executions/step-values.ts';
import {
  createExecutionWorker,
  type EndedExecution,
  type ExecutionWorkerOptions,
  WORKER_OPTIONS,
} from '../../src/formulas/executions/worker.ts';
import type { FormulaContent, Step, Trigger } from '../../src/formulas/model.ts';
import { LIMITS } from '../../src/formulas/model.ts';
import type { ApiCall } from '../../src/formulas/ports.ts';
import { createPrograms } from '../../src/formulas/programs.ts';
import { createElementRequest, createPlatformRequest } from '../../src/formulas/steps/api-requests.ts';
import { createHttpRequest } from '../../src/formulas/steps/http-request.ts';
import type { PerformStep } from '../../src/formulas/steps/outcome.ts';
import { createFilter, createScript } from '../../src/formulas/steps/scripts.ts';
import { createStreamRequest } from '../../src/formulas/steps/stream-request.ts';
import { createSandbox } from '../../src/scripts/index.ts';
import { ALL_BUCKETS } from '../support/buckets.ts';
import { silentLog, type TestDatabase } from '../support/database.ts';
import { addAccount, addUser } from '../support/event-rows.ts';
import { createLocalNotifier } from '../support/notifier.ts';

/** A response of the API that a test plays. */
export interface PlayedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export type PlayApi = (call: ApiCall & { readonly json: unknown }) => PlayedResponse | Promise<PlayedResponse>;

export interface GivenStep extends Partial<Omit<Step, 'name' | 'type'>> {
  readonly name: string;
  readonly type: Step['type'];
}

export interface GivenFormula {
  readonly steps: readonly GivenStep[];
  readonly trigger?: Partial<Trigger>;
  readonly variables?: readonly string[];
  readonly configuration?: Readonly<Record<string, string>>;
  readonly singleThreaded?: boolean;
  readonly debugLoggingEnabled?: boolean;
  readonly engine?: 'v1' | 'v2' | 'v3';
  readonly accountId?: number;
}

export type FormulaBench = ReturnType<typeof useFormulaBench>;

const unexpected: PerformStep = () => Promise.reject(new Error('No test sends this step.'));
const WAIT_MS = 20_000;

/** Formulas in a database, workers that run them, and an API that the test plays. */
export function useFormulaBench(database: TestDatabase) {
  let offsetMs = 0;
  let api: PlayApi = () => ({ status: 200, body: {} });
  let calls: ApiCall[] = [];
  let ended: EndedExecution[] = [];
  const workers: ReturnType<typeof createExecutionWorker>[] = [];
  const clock: Clock = { ...SYSTEM_CLOCK, now: () => SYSTEM_CLOCK.now() + offsetMs };
  const sandbox = createSandbox({ clock });
  const notifier = createLocalNotifier();
  const shares = { list: <Result>(_: number, query: (via: Knex) => Promise<Result>) => query(database.knex) };
  let programs: ReturnType<typeof createPrograms>;

  before(async () => {
    const { knex } = database;
    await addAccount(knex);
    await knex('account').insert({ organization_id: 1, name: 'Other', external_id: 'Other' });
    await addUser(knex, 1);
    await addUser(knex, 2);
    await createPartitions({ knex, log: silentLog, clock }, [
      { table: 'formula_execution', column: 'created_at', by: 'month', retentionDays: 30 },
      { table: 'formula_step', column: 'execution_at', by: 'day', retentionDays: 3 },
    ]).ensure();
  });
  beforeEach(() => {
    offsetMs = 0;
    calls = [];
    ended = [];
    api = () => ({ status: 200, body: {} });
    programs = createPrograms({ knex: database.knex, notifier } as never);
  });
  const stopWorkers = async () => {
    for (const worker of workers.splice(0)) await worker.stop(0);
  };
  afterEach(async () => {
    await stopWorkers();
    await database.knex('formula_run').delete();
  });
  after(() => sandbox.close());

  async function callApi(call: ApiCall) {
    calls.push(call);
    const body = call.body instanceof Readable ? Buffer.concat(await call.body.toArray()) : call.body;
    const json = body === undefined ? undefined : tryJson(body.toString());
    const { status, headers = {}, body: answer } = await api({ ...call, body, json });
    const text = answer === undefined ? '' : typeof answer === 'string' ? answer : JSON.stringify(answer);
    return {
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: Readable.from([Buffer.from(text)], { objectMode: false }),
    };
  }

  function startWorker({
    store = createRunStore(database.knex),
    options = {},
  }: {
    store?: RunStore;
    options?: Partial<ExecutionWorkerOptions>;
  } = {}) {
    const worker = createExecutionWorker(
      { clock, log: silentLog, buckets: ALL_BUCKETS },
      {
        store,
        programs,
        performers: {
          elementRequest: createElementRequest({ callApi }),
          request: createPlatformRequest({ callApi }),
          httpRequest: createHttpRequest({
            egress: { request: () => Promise.reject(new Error('No test sends this.')) },
          }),
          elementRequestStream: createStreamRequest({ callApi }),
          amqpRequest: unexpected,
          script: createScript({ sandbox }),
          filter: createFilter({ sandbox }),
        },
        noteEnded: async (end) => void ended.push(end),
        noteMail: () => undefined,
        options: { ...WORKER_OPTIONS, lookMs: 50, ...options },
      },
    );
    workers.push(worker);
    worker.start();
    return worker;
  }

  const executionStore = createExecutionStore;
  const executions = () =>
    createExecutions({
      store: executionStore(database.knex),
      runs: createRunStore(database.knex),
      startLimit: createStartLimit({ countStarts: createRunStore(database.knex).countStarts, clock }),
      programs,
      shares: shares as never,
      clock,
      wake: () => {
        for (const worker of workers) worker.wake();
      },
    });

  async function until<Result>(read: () => Promise<Result | undefined>): Promise<Result> {
    const endMs = SYSTEM_CLOCK.now() + WAIT_MS;
    for (;;) {
      const found = await read();
      if (found !== undefined) return found;
      if (SYSTEM_CLOCK.now() > endMs) throw new Error('It did not happen in time.');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  const findExecution = (accountId: number, id: number) => executionStore(database.knex).find({ accountId, id });

  async function stepsOf(accountId: number, id: number) {
    const execution = await findExecution(accountId, id);
    if (execution === undefined) throw new Error('The execution is gone.');
    return executionStore(database.knex).listSteps(database.knex, execution, { limit: 100_000, withValues: true });
  }

  /** Stores a formula with one instance. */
  async function addFormula({
    steps,
    trigger,
    variables = [],
    configuration = {},
    accountId = 1,
    ...more
  }: GivenFormula) {
    const content: FormulaContent = {
      configuration: variables.map((key, index) => ({ id: index + 1, key, name: key, type: 'value' })),
      triggers: [
        {
          id: 1,
          name: 'trigger',
          type: 'manual',
          properties: {},
          onSuccess: steps.slice(0, 1).map(({ name }) => name),
          onFailure: [],
          ...trigger,
        },
      ],
      steps: steps.map((step, index) => ({ id: index + 2, properties: {}, onSuccess: [], onFailure: [], ...step })),
    };
    const [formula] = await database
      .knex('formula')
      .insert({
        account_id: accountId,
        user_id: accountId,
        name: 'Test',
        single_threaded: more.singleThreaded ?? false,
        debug_logging_enabled: more.debugLoggingEnabled ?? true,
        engine: more.engine ?? 'v3',
        content: JSON.stringify(content),
      })
      .returning('id');
    const formulaId = formula?.id ?? 0;
    await database.knex('formula_version').insert({
      account_id: accountId,
      formula_id: formulaId,
      version: 1,
      content: JSON.stringify(content),
      user_id: accountId,
    });
    const [instance] = await database
      .knex('formula_instance')
      .insert({
        account_id: accountId,
        formula_account_id: accountId,
        formula_id: formulaId,
        user_id: accountId,
        name: 'Instance',
        configuration: JSON.stringify(configuration),
      })
      .returning('id');
    await notifier.publish('formula-changed', String(accountId));
    return { accountId, formulaId, formulaInstanceId: instance?.id ?? 0 };
  }

  /** Waits until an execution has one of the statuses. */
  const untilStatus = (accountId: number, id: number, ...statuses: readonly string[]) =>
    until(async () => {
      const found = await findExecution(accountId, id);
      return found !== undefined && statuses.includes(found.status) ? found : undefined;
    });

  /** The steps as `name status`, in their order. */
  const path = async (accountId: number, id: number) =>
    (await stepsOf(accountId, id)).map(({ stepName, status }) => `${stepName} ${status}`);

  return {
    get knex() {
      return database.knex;
    },
    get calls(): readonly ApiCall[] {
      return calls;
    },
    get ended(): readonly EndedExecution[] {
      return ended;
    },
    get executions() {
      return executions();
    },
    clock,
    playApi: (play: PlayApi) => {
      api = play;
    },
    startWorker,
    stopWorkers,
    /** Lets time pass for the service. */
    pass: (ms: number) => {
      offsetMs += ms;
      for (const worker of workers) worker.wake();
    },
    addFormula,
    /** Runs a formula until it ends, or until it has one of the statuses. */
    run: async (formula: GivenFormula, input: unknown = {}, ...statuses: readonly string[]) => {
      const key = await addFormula(formula);
      startWorker();
      const [id = 0] = await executions().start(key, input);
      const ends = statuses.length > 0 ? statuses : ['success', 'failed', 'retry', 'cancelled'];
      const { status } = await untilStatus(1, id, ...ends);
      return { id, key, status, path: await path(1, id) };
    },
    untilStatus,
    until,
    stepsOf,
    path,
    /** The steps in their order, with their values by key. */
    stepsShown: async (accountId: number, id: number) =>
      (await stepsOf(accountId, id)).map(({ stepName: name, status, content, isRestarted }) => ({
        name,
        status,
        isRestarted,
        values: Object.fromEntries(
          showValues(name, content ?? [], LIMITS.valueBytes).map(({ key, value }) => [key, value]),
        ),
      })),
    /** The values of the last step of a name, by key. */
    valuesOf: async (accountId: number, id: number, name: string) => {
      const step = (await stepsOf(accountId, id)).findLast(({ stepName }) => stepName === name);
      const values = showValues(name, step?.content ?? [], LIMITS.valueBytes);
      return Object.fromEntries(values.map(({ key, value }) => [key, value]));
    },
  };
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
