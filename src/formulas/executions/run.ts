import type { Clock } from '../../clock.ts';
import { isAppError, reasonOf } from '../../errors.ts';
import { isJsonObject } from '../../numbers/exact-json.ts';
import { type FormulaKey, LIMITS, type Step, type StepType } from '../model.ts';
import type { Program, Programs, RunnableInstance } from '../programs.ts';
import { type Context, ReferenceFault } from '../references.ts';
import { errorValue, type PerformStep, StepFault, type StepOutcome } from '../steps/outcome.ts';
import { readJson, readProperties } from '../steps/properties.ts';
import { follow, takeTurn } from './flow.ts';
import { type EnterHeavy, HEAVY_CHARACTERS } from './heavy-runs.ts';
import type { ClaimedRun, EndStatus, ExecutionInput, Frame, Mail, RunPosition, StepRow, StepValue } from './model.ts';
import type { RunCommit, RunCommitNext, RunStore } from './run-store.ts';
import { toContextValue } from './step-values.ts';

/** Steps that leave this process. What was before them is stored before they begin, and what comes after them when they have ended. */
type EffectType = Extract<
  StepType,
  'elementRequest' | 'request' | 'httpRequest' | 'elementRequestStream' | 'amqpRequest'
>;
/** Steps that only compute. */
type PureType = Extract<StepType, 'script' | 'filter'>;

type Performers = Readonly<Record<EffectType | PureType, PerformStep>>;

export interface ExecutionRunPorts {
  readonly store: Pick<RunStore, 'findInput' | 'lastValues' | 'takeRetry'>;
  /** Stores steps together with those of other runs. Undefined: another process has the run. */
  readonly commit: (commit: RunCommit) => Promise<{ readonly isCancelled: boolean } | undefined>;
  readonly programs: Programs;
  readonly performers: Performers;
  readonly enterHeavy: EnterHeavy;
  readonly clock: Clock;
  readonly options: ExecutionRunOptions;
}

export interface ExecutionRunOptions {
  /** Steps that are stored together at most. */
  readonly batchSteps: number;
  /** Characters of their values at most. */
  readonly batchCharacters: number;
  /** Maximum number of executed steps of an execution. */
  readonly executedSteps: number;
  /** Maximum time of an execution in milliseconds, with all its waits. */
  readonly executionMs: number;
}

/** The end of a turn of a run. */
export interface RunEnd {
  /** Undefined: the run waits, or another process has it. */
  readonly status: EndStatus | undefined;
  readonly execution: { readonly name: string; readonly message: string } | undefined;
}

/** Another process has the run. */
export class RunLost extends Error {
  override readonly name = 'RunLost';
}

/** A frame with what its steps may refer to. */
interface LiveFrame {
  readonly frame: Frame;
  readonly program: Program;
  readonly trigger: unknown;
  readonly config: Readonly<Record<string, unknown>>;
  readonly steps: Record<string, unknown>;
  /** The values of the step that ended last. */
  readonly left: { values: readonly StepValue[] };
  /** Number of characters of the values of each step, and of its trigger. */
  readonly sizes: Map<string, number>;
}

const TRIGGER = 'trigger';
/** Maximum number of times that a request begins which must not happen often: after a crash it runs once more (formulas.md, 10). */
const MOST_BEGUN = 2;
const BROKEN_TWICE = 'The service ended twice while the step was running, and the step is not repeated again.';
/** Waiting times of retries are `round(e^x)` minutes, for x = 1, 2, … (formulas.md, 10). */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MOST_RETRIES = 7;
const EFFECTS: ReadonlySet<string> = new Set([
  'elementRequest',
  'request',
  'httpRequest',
  'elementRequestStream',
  'amqpRequest',
] satisfies EffectType[]);

/** Runs an execution from where it stands, until it ends or waits. @throws RunLost, and whatever the database or the signal says */
export async function runExecution(ports: ExecutionRunPorts, run: ClaimedRun, signal: AbortSignal): Promise<RunEnd> {
  let endHeavy: (() => void) | undefined;
  const beHeavy = async (): Promise<void> => {
    endHeavy ??= await ports.enterHeavy(run.accountId, signal);
  };
  try {
    // A large input is not read before there is room for it.
    if (run.input !== null && 'bytes' in run.input && run.input.bytes > HEAVY_CHARACTERS) await beHeavy();
    return await runFrom(ports, run, { signal, beHeavy });
  } finally {
    endHeavy?.();
  }
}

interface RunLimits {
  readonly signal: AbortSignal;
  /** Waits until the run may hold large values. */
  readonly beHeavy: () => Promise<void>;
}

async function runFrom(ports: ExecutionRunPorts, run: ClaimedRun, limits: RunLimits): Promise<RunEnd> {
  const { store, programs, clock } = ports;
  const input = run.input !== null && 'bytes' in run.input ? await store.findInput(run) : (run.input ?? undefined);
  const instance = await programs.findInstance(run.accountId, run.formulaInstanceId);
  if (input === undefined || instance === undefined) return endAtOnce(ports, run, 'cancelled');
  if (run.position?.isRetry === true) {
    // It was cancelled in the moment in which it planned the retry.
    if (run.isCancelled) return endAtOnce(ports, run, 'cancelled');
    await store.takeRetry(run, {
      accountId: run.accountId,
      formulaInstanceId: run.formulaInstanceId,
      ...input,
      serial: instance.singleThreaded,
      createdAt: new Date(clock.now()),
      attempt: input.attempt + 1,
    });
    return { status: undefined, execution: undefined };
  }
  const execution = await restore(ports, { run, input, instance });
  // A sub-formula that was deleted while it ran.
  return execution === undefined ? endAtOnce(ports, run, 'failed') : execution.continue(limits);
}

async function endAtOnce({ commit, clock }: ExecutionRunPorts, run: ClaimedRun, status: EndStatus): Promise<RunEnd> {
  const at = new Date(clock.now());
  await commit({ ...run, rows: [], next: { kind: 'end', status, at, forgetsValues: false } });
  return { status, execution: undefined };
}

interface Given {
  readonly run: ClaimedRun;
  readonly input: ExecutionInput;
  readonly instance: RunnableInstance;
}

/** Reads what an execution needs to continue: its programs, and the last values of their steps. Undefined: a program was deleted. */
async function restore(ports: ExecutionRunPorts, given: Given) {
  const { run, input, instance } = given;
  const position = run.position ?? begin(input);
  const stored =
    run.position === null
      ? []
      : await ports.store.lastValues(
          run,
          position.frames.map(({ id }) => id),
        );
  const live: LiveFrame[] = [];
  for (const frame of position.frames) {
    const program = await ports.programs.get(frame.formula, frame.version);
    if (program === undefined) return undefined;
    const own = stored.filter((row) => row.frame === frame.id);
    const steps = Object.fromEntries(own.map(({ stepName, content }) => [stepName, toContextValue(content ?? [])]));
    const entry = frame.id === 0 ? input.trigger : (own.find(({ stepName }) => stepName === TRIGGER)?.content ?? []);
    const left = own.find(({ stepName }) => stepName === frame.last)?.content ?? [];
    const made = toLive(frame, program, entry, live.at(-1)?.config ?? instance.configuration, steps);
    for (const { stepName, content } of own) made.sizes.set(stepName, sizeOf(content ?? []));
    live.push({ ...made, left: { values: left } });
  }
  return createExecution(ports, given, position, live);
}

/** The values of the trigger step of a sub-formula: its arguments, and the variables that it overrides. */
function toLive(
  frame: Frame,
  program: Program,
  entry: readonly StepValue[],
  outer: Readonly<Record<string, unknown>>,
  steps: Record<string, unknown>,
): LiveFrame {
  const { trigger, ...others } = steps;
  const left = { values: [] };
  const sizes = new Map([[TRIGGER, sizeOf(entry)]]);
  if (frame.id === 0)
    return { frame, program, trigger: toContextValue(entry), config: outer, steps: others, left, sizes };
  const { args, config } = Object(toContextValue(entry));
  const inner = { ...outer, ...Object(config) };
  return { frame, program, trigger: { type: 'manual', args }, config: inner, steps: others, left, sizes };
}

function begin({ formula, version }: ExecutionInput): RunPosition {
  const frame = { id: 0, formula, version, stack: [], loops: {}, hasFailed: false };
  return { frames: [frame], ordinal: 0, retries: 0, begun: 0 };
}

function createExecution(
  ports: ExecutionRunPorts,
  { run, input, instance }: Given,
  position: RunPosition,
  frames: LiveFrame[],
) {
  const { clock, commit, performers, programs, options } = ports;
  const { accountId } = run;
  const isLogged = instance.debugLoggingEnabled;
  const info = {
    formulaId: input.formula.id,
    formulaName: instance.formulaName,
    formulaInstanceId: instance.id,
    formulaInstanceName: instance.name,
    formulaExecutionId: run.id,
    formulaStartTime: run.executionAt.getTime(),
  };
  const origin = {
    formulaId: input.formula.id,
    formulaInstanceId: instance.id,
    executionId: run.id,
    chain: input.chain,
  };
  let { ordinal, retries, begun } = position;
  let rows: StepRow[] = [];
  let mails: (Mail & { readonly due: Date })[] = [];
  let characters = 0;
  /** Number of characters of all values that steps can refer to. */
  let liveCharacters = frames.reduce((sum, { sizes }) => sum + totalOf(sizes), 0);
  let isCancelled = run.isCancelled;
  let firstFault: { readonly name: string; readonly message: string } | undefined;

  const top = (): LiveFrame => {
    const live = frames.at(-1);
    if (live === undefined) throw new Error('An execution has no frame.');
    return live;
  };
  const replaceTop = (frame: Frame) => {
    frames[frames.length - 1] = { ...top(), frame };
  };

  function toPosition(): RunPosition {
    return { frames: frames.map(({ frame }) => frame), ordinal, retries, begun };
  }

  /** @throws RunLost */
  async function store(next: RunCommitNext): Promise<void> {
    const { id, lease, executionAt } = run;
    const stored = await commit({ accountId, id, lease, executionAt, rows, mails, next });
    rows = [];
    mails = [];
    characters = 0;
    if (stored === undefined) throw new RunLost(`Another process has execution ${run.id}.`);
    isCancelled ||= stored.isCancelled;
  }

  async function end(status: EndStatus, retryAt?: Date): Promise<RunEnd> {
    // Those that are stored already are removed by the same statement.
    if (!isLogged) rows = rows.map((row) => (row.isFault ? row : { ...row, content: null }));
    const at = new Date(clock.now());
    const response = run.isAwaited ? responseOf() : undefined;
    await store({ kind: 'end', status, at, forgetsValues: !isLogged, retryAt, response, fault: firstFault });
    return { status, execution: firstFault };
  }

  /** Returns what the last step of the formula left. */
  function responseOf(): unknown {
    const [root] = frames;
    const last = root?.frame.last;
    if (root === undefined || last === undefined) return undefined;
    const { values } = root.left;
    const isScript = root.program.steps.get(last)?.type === 'script';
    return toContextValue(isScript ? values.filter(([[name]]) => name !== 'console' && name !== 'notify') : values);
  }

  /** Notes a step that has ended, and what its successors may refer to. */
  function note(step: { readonly name: string }, outcome: Ended, startedAt: Date, frame: LiveFrame): void {
    const { isSuccess, isFault, values } = outcome;
    for (const mail of outcome.mails ?? []) mails.push({ ...mail, due: startedAt });
    if (isFault) firstFault ??= { name: step.name, message: messageOf(values) };
    frame.steps[step.name] = toContextValue(values);
    frame.left.values = values;
    rows.push({
      ordinal,
      frame: frame.frame.id,
      stepName: step.name,
      status: isSuccess ? 'success' : 'failed',
      isFault,
      isRestarted: position.begun > 0 && ordinal === position.ordinal,
      createdAt: startedAt,
      updatedAt: new Date(clock.now()),
      content: values,
    });
    const size = sizeOf(values);
    characters += size;
    liveCharacters += size - (frame.sizes.get(step.name) ?? 0);
    frame.sizes.set(step.name, size);
    ordinal++;
    retries = 0;
    begun = 0;
  }

  /** The first step execution is that of the trigger. */
  function begin(): void {
    const root = top();
    const { trigger } = root.program;
    const at = new Date(clock.now());
    rows.push({
      ...{ ordinal: 0, frame: 0, stepName: TRIGGER, status: 'success', isFault: false, isRestarted: false },
      createdAt: at,
      updatedAt: at,
      content: input.trigger,
    });
    ordinal = 1;
    replaceTop({ ...root.frame, stack: (trigger?.onSuccess ?? []).toReversed() });
  }

  function contextOf({ program, trigger, config, steps }: LiveFrame): Context {
    const { variables, stepNames } = program;
    return { config, variables, steps, stepNames, trigger, info };
  }

  async function perform(step: Step, live: LiveFrame, signal: AbortSignal): Promise<StepOutcome> {
    const performer = performers[step.type as EffectType | PureType];
    return performer({
      step,
      context: contextOf(live),
      caller: { accountId, userId: instance.userId },
      key: `formula-${run.id}-${ordinal}`,
      retries,
      begun,
      origin,
      isOfFirstEngine: instance.engine === 'v1',
      signal,
    });
  }

  function loop(step: Step, live: LiveFrame): void {
    const startedAt = new Date(clock.now());
    const list = readJson(readProperties(step.properties, contextOf(live)).value('list'));
    if (!Array.isArray(list)) throw new StepFault("The property 'list' must be an array.");
    if (list.length > LIMITS.loopEntries)
      throw new StepFault(`The list has ${list.length} entries; the maximum is ${LIMITS.loopEntries}.`);
    const turn = takeTurn(live.frame, step, list);
    replaceTop(turn.frame);
    if (turn.kind === 'end') {
      note(step, { isSuccess: false, isFault: false, values: [] }, startedAt, top());
      return;
    }
    const values: readonly StepValue[] = [
      [['index'], turn.index],
      [['entry'], turn.entry],
    ];
    note(step, { isSuccess: true, isFault: false, values }, startedAt, top());
  }

  /** Begins a sub-formula. Its frame ends with the step that called it. */
  async function enter(step: Step, live: LiveFrame): Promise<void> {
    const properties = readProperties(step.properties, contextOf(live));
    const id = Number(properties.text('formulaId'));
    const found = Number.isSafeInteger(id) && id > 0 ? await programs.findFormula(accountId, id) : undefined;
    if (found === undefined) throw new StepFault(`There is no formula ${properties.text('formulaId').slice(0, 100)}.`);
    if (!found.active) throw new StepFault(`Formula ${id} is not active.`);
    if (frames.length > LIMITS.depth) throw new StepFault(`Sub-formulas nest deeper than ${LIMITS.depth} levels.`);
    if (frames.some(({ frame }) => isSame(frame.formula, found)))
      throw new StepFault(`Formula ${id} is running already: a formula cannot call itself.`);
    const program = await programs.get(found, found.version);
    if (program === undefined) throw new StepFault(`There is no formula ${id}.`);
    const entry: readonly StepValue[] = [
      [['args'], readJson(properties.value('args')) ?? null],
      [['config'], properties.members('subFormulaConfigs')],
    ];
    const stack = (program.trigger?.onSuccess ?? []).toReversed();
    const frame: Frame = {
      id: ordinal,
      formula: { accountId: found.accountId, id },
      version: found.version,
      stack,
      loops: {},
      hasFailed: false,
    };
    const inner = toLive(frame, program, entry, live.config, {});
    frames.push(inner);
    liveCharacters += totalOf(inner.sizes);
    const at = new Date(clock.now());
    rows.push({
      ...{ ordinal, frame: frame.id, stepName: TRIGGER, status: 'success', isFault: false, isRestarted: false },
      createdAt: at,
      updatedAt: at,
      content: entry,
    });
    ordinal++;
  }

  /** Ends a sub-formula: the step that called it leaves what its last step left, or why it failed (formulas.md, 8). */
  function leave(): void {
    const inner = frames.pop();
    const outer = top();
    const name = outer.frame.stack.at(-1) ?? '';
    const step = outer.program.steps.get(name);
    if (inner === undefined || step === undefined) throw new Error('A sub-formula has no step that called it.');
    liveCharacters -= totalOf(inner.sizes);
    const { hasFailed } = inner.frame;
    const values = hasFailed ? failureOf(inner) : inner.left.values;
    replaceTop(after(outer.frame, step, { isSuccess: !hasFailed, isFault: hasFailed, values }));
    note(step, { isSuccess: !hasFailed, isFault: hasFailed, values }, new Date(clock.now()), top());
  }

  /** Plans a new execution with the same input. Undefined: no retry is left. */
  function planRetry(step: Step, live: LiveFrame): Date | undefined {
    const startedAt = new Date(clock.now());
    const properties = readProperties(step.properties, contextOf(live));
    const most = properties.number('retryAttempts', { least: 1, most: MOST_RETRIES, otherwise: 1 });
    const attempt = input.attempt + 1;
    if (attempt > most) {
      const values = [errorValue(`The execution failed ${attempt} times; the maximum of retries is ${most}.`)];
      replaceTop(after(live.frame, step, { isSuccess: false, isFault: true, values }));
      note(step, { isSuccess: false, isFault: true, values }, startedAt, top());
      return undefined;
    }
    const due = new Date(clock.now() + Math.round(Math.exp(attempt)) * MINUTE_MS);
    const values: readonly StepValue[] = [
      [['attempt'], attempt],
      [['retryDate'], due.toISOString()],
    ];
    note(step, { isSuccess: true, isFault: false, values }, startedAt, live);
    return due;
  }

  /** Runs the next step. Undefined: the execution continues. */
  async function takeStep(name: string, signal: AbortSignal): Promise<RunEnd | undefined> {
    const live = top();
    const step = live.program.steps.get(name);
    const startedAt = new Date(clock.now());
    if (step === undefined) {
      const values = [errorValue(`There is no step '${name}'.`)];
      replaceTop({ ...live.frame, stack: live.frame.stack.slice(0, -1), hasFailed: true });
      note({ name }, { isSuccess: false, isFault: true, values }, startedAt, top());
      return undefined;
    }
    try {
      if (step.type === 'loop') loop(step, live);
      else if (step.type === 'formula') await enter(step, live);
      else if (step.type === 'retryFormulaExecution') {
        const due = planRetry(step, live);
        if (due !== undefined) return await end('retry', due);
      } else {
        if (EFFECTS.has(step.type)) {
          begun++;
          await store({ kind: 'go', position: toPosition() });
          if (isCancelled) return await end('cancelled');
          if (begun > MOST_BEGUN && isUnrepeatable(step)) throw new StepFault(BROKEN_TWICE);
        }
        const outcome = await perform(step, live, signal);
        if (outcome.kind === 'retry') return await wait(outcome.afterMs);
        replaceTop(after(live.frame, step, outcome));
        note(step, outcome, startedAt, top());
        if (EFFECTS.has(step.type) && !isRecognized(step) && !isAtEnd())
          await store({ kind: 'go', position: toPosition() });
      }
    } catch (error) {
      const values = faultValues(error);
      if (values === undefined) throw error;
      replaceTop(after(live.frame, step, { isSuccess: false, isFault: true, values }));
      note(step, { isSuccess: false, isFault: true, values }, startedAt, top());
    }
    return undefined;
  }

  /** Waits for the next try of a request, without a slot. */
  async function wait(afterMs: number): Promise<RunEnd> {
    retries++;
    begun = 0;
    await store({ kind: 'later', position: toPosition(), due: new Date(clock.now() + afterMs) });
    return { status: undefined, execution: undefined };
  }

  function isAtEnd(): boolean {
    return frames.length === 1 && top().frame.stack.length === 0;
  }

  function overrun(): string | undefined {
    if (ordinal > options.executedSteps) return `The execution has more than ${options.executedSteps} steps.`;
    if (clock.now() - run.executionAt.getTime() > options.executionMs)
      return `The execution takes longer than ${options.executionMs / HOUR_MS} hours.`;
    if (liveCharacters > LIMITS.liveCharacters)
      return `The values of the steps have ${liveCharacters} characters together; the maximum is ${LIMITS.liveCharacters}.`;
    return undefined;
  }

  return {
    continue: async ({ signal, beHeavy }: RunLimits): Promise<RunEnd> => {
      if (ordinal === 0) begin();
      for (;;) {
        signal.throwIfAborted();
        if (isCancelled) return end('cancelled');
        const { frame } = top();
        const name = frame.stack.at(-1);
        if (name === undefined) {
          if (frames.length === 1) return end(frame.hasFailed ? 'failed' : 'success');
          leave();
          continue;
        }
        const reason = overrun();
        if (reason !== undefined) {
          note(
            { name },
            { isSuccess: false, isFault: true, values: [errorValue(reason)] },
            new Date(clock.now()),
            top(),
          );
          return end('failed');
        }
        if (liveCharacters > HEAVY_CHARACTERS) await beHeavy();
        const ended = await takeStep(name, signal);
        if (ended !== undefined) return ended;
        if (rows.length >= options.batchSteps || characters >= options.batchCharacters)
          await store({ kind: 'go', position: toPosition() });
      }
    },
  };
}

/** Whether a request that is sent again has no second effect. The outcome of any other one is stored before the next step. */
function isRecognized({ type, properties }: Step): boolean {
  const method = String(properties.method).toUpperCase();
  return method === 'GET' || (method === 'POST' && (type === 'elementRequest' || type === 'request'));
}

/** A POST to a foreign server has no key by which that server knows it again. */
function isUnrepeatable({ type, properties }: Step): boolean {
  return type === 'amqpRequest' || (type === 'httpRequest' && String(properties.method).toUpperCase() === 'POST');
}

type Ended = Omit<Extract<StepOutcome, { kind: 'done' }>, 'kind'>;

function after(frame: Frame, step: Step, { isSuccess, isFault }: Ended): Frame {
  const next = follow(frame, step, isSuccess);
  return isFault ? { ...next, hasFailed: true } : next;
}

/** Returns why a sub-formula failed: the error or the response that its last step left. */
function failureOf({ frame, left }: LiveFrame): readonly StepValue[] {
  const why = left.values.filter(([[member]]) => member === 'error' || member === 'response');
  if (why.length > 0) return why;
  return [errorValue(`A step of formula ${frame.formula.id} failed, and later steps of it were executed.`)];
}

/** Undefined: the step is not at fault. */
function faultValues(error: unknown): readonly StepValue[] | undefined {
  if (error instanceof StepFault) return [...error.values, errorValue(error.message)];
  if (error instanceof ReferenceFault) return [errorValue(error.message)];
  // This service has no room now; the run goes on later.
  if (isAppError(error, 'OVERLOADED')) return undefined;
  return isAppError(error) ? [errorValue(reasonOf(error))] : undefined;
}

function messageOf(values: readonly StepValue[]): string {
  const error = values.find(([path]) => path.join('.') === 'error');
  if (error !== undefined) return String(error[1]);
  const code = values.find(([path]) => path.join('.') === 'response.code');
  return code === undefined ? 'The step failed.' : `The response has the status ${code[1]}.`;
}

function isSame(one: FormulaKey, other: FormulaKey): boolean {
  return one.accountId === other.accountId && one.id === other.id;
}

function totalOf(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

function sizeOf(values: readonly StepValue[]): number {
  return values.reduce((sum, [, value]) => sum + approximateSize(value), 0);
}

/** Returns about how many characters a value has as JSON. */
function approximateSize(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value).length : 8;
}
