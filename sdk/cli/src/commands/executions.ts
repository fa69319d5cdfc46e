import { access } from 'node:fs/promises';
import { type Causeway, type FormulaExecution, FormulaExecutionStatus, where } from '@causeway/client';
import { Option } from 'commander';
import { type AddCommands, wholeNumber } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { ExecutionFailedError, UsageError } from '../failures.js';
import { readJsonFile } from '../formula-files.js';
import { formulaInstanceIdOf } from '../formula-lookup.js';
import { followExecution, type ShownStep } from '../formula-steps.js';
import { first } from '../limit.js';
import type { Session } from '../session.js';
import type { Columns } from '../table.js';
import { counted, printable, shortened } from '../texts.js';
import { timeOf } from '../times.js';

interface WatchOptions {
  readonly values?: true;
}

interface RunOptions extends WatchOptions {
  readonly input?: string;
  readonly wait?: true;
}

interface ListOptions {
  readonly status?: FormulaExecutionStatus;
  readonly since?: string;
  readonly limit: number;
}

/** An execution that was observed until its end. */
interface Followed extends FormulaExecution {
  readonly stepExecutions: ShownStep[];
}

/** Maximum number of characters of a value or a reason in a table. */
const WIDEST_VALUE = 1_000;
const PAGE_SIZE = 200;
const VALUES = 'show the values of the steps; secrets are shown as ********';

/** Adds the commands on executions below `formulas`. */
export const addExecutions: AddCommands = (formulas, run) => {
  formulas
    .command('run <formula-instance>')
    .description('start a formula instance, by its id or name')
    .option('-i, --input <json>', 'the input: JSON, a file with JSON, or - for the standard input')
    .option('--wait', 'follow the steps to the end; the exit code is 1 unless the execution succeeds')
    .option('--values', `with --wait: ${VALUES}`)
    .action(run(start));
  formulas
    .command('executions <formula-instance>')
    .description('list the executions of a formula instance, by its id or name, the newest first')
    .addOption(
      new Option('--status <status>', 'only executions with this status').choices(
        Object.values(FormulaExecutionStatus),
      ),
    )
    .option('--since <time>', 'only executions started since a time, or an age such as 30m, 2h, 7d')
    .option('-n, --limit <count>', 'maximum number of entries', wholeNumber, 20)
    .action(run(list));
  formulas
    .command('watch')
    .argument('<execution>', `the id of an execution, see ${CAUSEWAY} formulas executions`, wholeNumber)
    .description('follow the steps of an execution to its end; the exit code is 1 unless it succeeds')
    .option('--values', VALUES)
    .action(run(watch));
};

async function start(session: Session, named: string, { input, wait, values }: RunOptions): Promise<void> {
  const body = input === undefined ? undefined : await inputOf(input);
  const platform = await session.platform();
  const { output, signal } = session;
  const instanceId = await formulaInstanceIdOf(platform, named, signal);
  const started = await platform.formulaExecutions.startFormulaExecutions({ instanceId, body }, { signal });
  if (!wait) {
    if (output.format !== 'table') await output.list(started, { id: ({ id }) => id });
    for (const { id } of output.format === 'table' ? started : [])
      await output.print(`Execution ${id} is started. Follow it: ${CAUSEWAY} formulas watch ${id}`);
    return;
  }
  const ended: Followed[] = [];
  async function* followed(): AsyncGenerator<Followed, void> {
    for (const { id } of started) {
      const execution = await follow(session, platform, id, { values, isShown: output.format === 'table' });
      ended.push(execution);
      yield execution;
    }
  }
  if (output.format !== 'table') await output.list(followed(), COLUMNS);
  else for await (const execution of followed()) await output.print(endOf(execution));
  assertSuccess(ended);
}

/** Parses JSON, or reads it from a file of this name. @throws UsageError */
async function inputOf(text: string): Promise<unknown> {
  if (text === '-') return readJsonFile('-');
  try {
    return JSON.parse(text);
  } catch {
    const isFile = await access(text).then(
      () => true,
      () => false,
    );
    // The text may be a whole input with secrets, so that the message has no part of it.
    if (!isFile) throw new UsageError('--input is neither JSON nor the name of a file.');
    return readJsonFile(text);
  }
}

async function list(session: Session, named: string, { status, since, limit }: ListOptions): Promise<void> {
  const platform = await session.platform();
  const { output, signal } = session;
  const instanceId = await formulaInstanceIdOf(platform, named, signal);
  const filter = filterOf(status, since);
  const query = { instanceId, pageSize: Math.min(limit, PAGE_SIZE), ...(filter !== undefined && { where: filter }) };
  const executions = platform.all((page) =>
    platform.formulaExecutions.listFormulaExecutionsRaw({ ...query, ...page }, { signal }),
  );
  await output.list(first(limit, withStatus(executions, status)), COLUMNS);
}

/** The service stores a queued execution as a pending one. */
function filterOf(status: FormulaExecutionStatus | undefined, since: string | undefined): string | undefined {
  const stored = status === 'queued' ? 'pending' : status;
  const conditions = [
    ...(stored === undefined ? [] : [where`status = ${stored}`]),
    ...(since === undefined ? [] : [where`createdDate >= ${timeOf(since, Date.now())}`]),
  ];
  return conditions.length === 0 ? undefined : conditions.map(String).join(' AND ');
}

async function* withStatus(
  executions: AsyncIterable<FormulaExecution>,
  status: FormulaExecutionStatus | undefined,
): AsyncGenerator<FormulaExecution, void> {
  for await (const execution of executions) if (status === undefined || execution.status === status) yield execution;
}

const COLUMNS: Columns<FormulaExecution> = {
  id: ({ id }) => id,
  status: ({ status }) => status,
  started: ({ createdDate }) => createdDate,
  ms: ({ createdDate, updatedDate }) => msBetween(createdDate, updatedDate),
  version: ({ formulaVersion }) => formulaVersion,
};

async function watch(session: Session, id: number, { values }: WatchOptions): Promise<void> {
  const platform = await session.platform();
  const { output } = session;
  const isStreamed = output.format === 'csv' || output.format === 'ndjson';
  const ended: Followed[] = [];
  const follows = async (onStep?: (step: ShownStep) => void) => {
    ended.push(await follow(session, platform, id, { values, isShown: output.format === 'table', onStep }));
  };
  if (isStreamed) await output.list(stepsAsTheyEnd(follows), STEP_COLUMNS);
  else await follows();
  for (const execution of isStreamed ? [] : ended) await output.one(execution, () => endOf(execution));
  assertSuccess(ended);
}

const STEP_COLUMNS: Columns<ShownStep> = {
  id: ({ id }) => id,
  step: ({ stepName }) => stepName,
  status: ({ status }) => status,
  fault: ({ fault }) => fault,
  started: ({ createdDate }) => createdDate,
  ms: ({ createdDate, updatedDate }) => msBetween(createdDate, updatedDate),
  reason: ({ reason }) => reason,
};

/** Returns the values that are passed to a callback as an iteration. */
async function* stepsAsTheyEnd(
  follows: (onStep: (step: ShownStep) => void) => Promise<void>,
): AsyncGenerator<ShownStep, void> {
  const steps: ShownStep[] = [];
  let wake = () => {};
  let isEnded = false;
  const end = follows((step) => {
    steps.push(step);
    wake();
  }).finally(() => {
    isEnded = true;
    wake();
  });
  // A failure is thrown after the steps that came before it.
  end.catch(() => {});
  for (;;) {
    yield* steps.splice(0);
    if (isEnded) break;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  yield* steps.splice(0);
  await end;
}

interface FollowHow {
  readonly values: true | undefined;
  readonly isShown: boolean;
  readonly onStep?: ((step: ShownStep) => void) | undefined;
}

async function follow(
  session: Session,
  platform: Causeway,
  id: number,
  { values, isShown, onStep }: FollowHow,
): Promise<Followed> {
  const { output, signal } = session;
  const hint = () => output.note(`Execution ${id} continues. Follow it: ${CAUSEWAY} formulas watch ${id}`);
  const steps: ShownStep[] = [];
  let count = 0;
  signal.addEventListener('abort', hint);
  try {
    const execution = await followExecution(platform, id, {
      signal,
      withValues: values === true,
      onState: ({ status }) => output.progress(`Execution ${id}: ${status}, ${counted(count, 'step')}`),
      onStep: async (step) => {
        count++;
        onStep?.(step);
        output.done();
        if (isShown) await output.print(stepText(step, session));
        // An execution can have many steps, so they are kept only if the output needs all of them at once.
        else if (onStep === undefined) steps.push(step);
      },
    });
    return { ...execution, stepExecutions: steps };
  } finally {
    output.done();
    signal.removeEventListener('abort', hint);
  }
}

function stepText(step: ShownStep, { output }: Session): string {
  const { colors } = output;
  const { stepName, status, fault, createdDate, updatedDate, restarted, reason, stepExecutionValues = [] } = step;
  const head = [
    colors.dim(createdDate),
    // A filter that is false and the end of a loop have the status of a failure, and are none.
    (fault ? colors.red : colors.green)((status === 'failed' && !fault ? 'ended' : status).padEnd(7)),
    printable(stepName),
    colors.dim(`${msBetween(createdDate, updatedDate)} ms`),
    ...(restarted ? [colors.yellow('restarted')] : []),
    ...(reason === undefined ? [] : [shortened(printable(reason), WIDEST_VALUE)]),
  ].join('  ');
  const values = stepExecutionValues.map(
    ({ key, value }) => `    ${colors.dim(`${printable(key)}:`)} ${shortened(printable(value), WIDEST_VALUE)}`,
  );
  return [head, ...values].join('\n');
}

function endOf({ id, status, createdDate, updatedDate }: FormulaExecution): string {
  return `Execution ${id} ended as ${status} after ${msBetween(createdDate, updatedDate)} ms.`;
}

/** Checks that every execution succeeded. @throws ExecutionFailedError */
function assertSuccess(ended: readonly FormulaExecution[]): void {
  const others = ended.filter(({ status }) => status !== 'success');
  if (others.length === 0) return;
  const states = others.map(({ id, status }) => `execution ${id} ended as ${status}`).join(', ');
  throw new ExecutionFailedError(`${states.charAt(0).toUpperCase()}${states.slice(1)}.`);
}

function msBetween(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}
