import { FORMULA_LIMITS, type Sandbox, type ScriptResult } from '../../scripts/index.ts';
import type { StepValue } from '../executions/model.ts';
import { valuesOf } from '../executions/step-values.ts';
import type { Context } from '../references.ts';
import { errorValue, fail, type PerformStep, StepFault, type StepInput, type StepOutcome, succeed } from './outcome.ts';

interface ScriptPorts {
  readonly sandbox: Sandbox;
}

/** Parameters of the scripts of formulas, before `done`. */
const SCRIPT_PARAMETERS = ['trigger', 'steps', 'info', 'config'] as const;
/** Maximum number of characters of the JSON of a result (formulas.md, 16). Arguments may be larger. */
const MOST_RESULT = 6 * 1024 * 1024;

/** Runs the JavaScript of the steps `script`, whose values are the members of the argument of `done`. */
export function createScript(ports: ScriptPorts): PerformStep {
  return async (input) => {
    const result = await run(ports, input);
    const console = consoleOf(result);
    const { mails } = result;
    if (result.kind === 'failed') return withMails(fail([...console, errorValue(result.reason)]), mails);
    const values = result.kind === 'done' ? valuesOf(result.value) : [];
    if (values.length === 0 && input.isOfFirstEngine)
      return withMails(fail([...console, errorValue('The script left no values.')]), mails);
    return withMails(succeed([...console, ...values]), mails);
  };
}

/** Runs the JavaScript of the steps `filter`. A result other than `true` takes the way of `onFailure`, and is no failure. */
export function createFilter(ports: ScriptPorts): PerformStep {
  return async (input): Promise<StepOutcome> => {
    const result = await run(ports, input);
    const console = consoleOf(result);
    if (result.kind === 'failed') return withMails(fail([...console, errorValue(result.reason)]), result.mails);
    const isSuccess = result.kind === 'done' && (result.value === true || result.value === 'true');
    const values: readonly StepValue[] = [...console, [['continue'], isSuccess]];
    return withMails({ kind: 'done', isSuccess, isFault: false, values }, result.mails);
  };
}

async function run({ sandbox }: ScriptPorts, { step, context, caller, signal }: StepInput): Promise<ScriptResult> {
  const { body } = step.properties;
  if (typeof body !== 'string') throw new StepFault("The property 'body' has no script.");
  const { trigger, info, config } = context;
  const [result] = await sandbox.run({
    owner: caller.accountId,
    body,
    parameters: SCRIPT_PARAMETERS,
    mutable: [],
    calls: [
      { values: { trigger: uses(body, 'trigger') ? trigger : null, info, config, steps: stepsFor(body, context) } },
    ],
    limits: FORMULA_LIMITS,
    signal,
  });
  if (result === undefined) throw new Error('A script that ran has no result.');
  if (result.kind !== 'done' || result.value === undefined) return result;
  const size = JSON.stringify(result.value).length;
  if (size <= MOST_RESULT) return result;
  const { mails, console } = result;
  const reason = `The result has ${size} characters of JSON; the maximum is ${MOST_RESULT}.`;
  return { kind: 'failed', reason, console, ...(mails !== undefined && { mails }) };
}

/** Whether a script may read an argument. Without its name, only these ways lead to it. */
function uses(body: string, name: string): boolean {
  return new RegExp(`\\b(?:${name}|arguments|eval|Function)\\b`).test(body);
}

/** Names of steps, where a script says them in a way that can be read. */
const NAMED_STEP = /\bsteps\s*(?:\?\.|\.)?\s*(?:\[\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*\]|([A-Za-z_$][\w$]*))/g;

/**
 * Returns the values of the steps that a script names, because each call copies what it gets. A script that uses `steps` in another way gets
 * all of them.
 */
function stepsFor(body: string, { steps }: Context): Readonly<Record<string, unknown>> {
  const named = [...body.matchAll(NAMED_STEP)];
  const mentions = body.match(/\bsteps\b/g)?.length ?? 0;
  if (named.length !== mentions || /\b(?:arguments|eval|Function)\b/.test(body)) return steps;
  const names = new Set(named.map(([, single, double, plain]) => single ?? double ?? plain ?? ''));
  return Object.fromEntries(Object.entries(steps).filter(([name]) => names.has(name)));
}

/** Adds the mail that a script sends, also one that failed after it. */
function withMails(outcome: StepOutcome, mails: ScriptResult['mails']): StepOutcome {
  if (mails === undefined || outcome.kind !== 'done') return outcome;
  const [console, others] = [outcome.values.filter(isConsole), outcome.values.filter((value) => !isConsole(value))];
  return { ...outcome, values: [...console, [['notify'], mails], ...others], mails };
}

function isConsole([path]: StepValue): boolean {
  return path.length === 1 && path[0] === 'console';
}

function consoleOf({ console }: ScriptResult): readonly StepValue[] {
  return console.length === 0 ? [] : [[['console'], console]];
}
