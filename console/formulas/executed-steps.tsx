import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { useAction, useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { sayNumber } from '../parts/number.ts';
import { Empty, ErrorNote, Show } from '../parts/show.tsx';
import { sayDuration, Time } from '../parts/time.tsx';
import { useNeeds } from '../who.ts';
import type { Execution, StepExecution } from './calls.ts';
import { isUnderWay } from './execution-state.tsx';
import type { Step } from './flow.ts';
import { pathOfExecution } from './paths.ts';

interface ExecutedStepsProps {
  readonly execution: Execution;
  /** The executed step whose values are shown. */
  readonly opened: StepExecution | undefined;
  /** Receives the id of the step to show, or undefined to close it. */
  readonly onOpen: (id: number | undefined) => void;
  readonly types: ReadonlyMap<string, Step['type']>;
}

const PAGE_SIZE = 100;
/** Maximum number of steps that the service returns with an execution. */
const MOST_STEPS = 5_000;

/** Lists the executed steps in their order. */
export function ExecutedSteps({ execution, opened, onOpen, types }: ExecutedStepsProps) {
  const { stepExecutions = [] } = execution;
  const [count, setCount] = useState(PAGE_SIZE);
  return (
    <section class="stack tight" aria-labelledby="steps">
      <h2 id="steps">Executed steps</h2>
      {stepExecutions.length === 0 ? (
        <Empty title={sayNothing(execution)} />
      ) : (
        <ol class="executed">
          {stepExecutions.slice(0, count).map((row) => (
            <li key={row.id}>
              <button type="button" class="plain strong break" onClick={() => onOpen(row.id)}>
                {row.stepName}
              </button>
              <Outcome row={row} type={types.get(row.stepName)} />
              {row.restarted === true && (
                <Badge
                  tone="warn"
                  title="A process ended while it ran the step, so the step may have been executed twice."
                >
                  ran again
                </Badge>
              )}
              <span class="small soft">
                <Time at={row.createdDate} /> · {sayDuration(Date.parse(row.updatedDate) - Date.parse(row.createdDate))}
              </span>
            </li>
          ))}
        </ol>
      )}
      {stepExecutions.length > count && (
        <button type="button" onClick={() => setCount(count + PAGE_SIZE * 10)}>
          Show more of {sayNumber(stepExecutions.length)}
        </button>
      )}
      {stepExecutions.length === MOST_STEPS && (
        <p class="small soft">These are the first {sayNumber(MOST_STEPS)} steps of the execution.</p>
      )}
      {opened !== undefined && <StepValues key={opened.id} execution={execution} step={opened} onOpen={onOpen} />}
    </section>
  );
}

function sayNothing({ status }: Execution): string {
  return isUnderWay(status) ? 'No step has run yet.' : 'The steps are no longer stored.';
}

const QUIET_ENDS: Readonly<Partial<Record<Step['type'], string>>> = { filter: 'false', loop: 'end' };

interface OutcomeProps {
  readonly row: StepExecution;
  readonly type: Step['type'] | undefined;
}

/** Shows the outcome of a step. A filter that returns false and the end of a loop are no failures. */
function Outcome({ row: { status, fault }, type }: OutcomeProps) {
  if (fault) return <Badge tone="bad">failed</Badge>;
  const words = type === undefined ? undefined : QUIET_ENDS[type];
  if (status === 'failed') return <Badge tone="quiet">{words ?? 'failed'}</Badge>;
  return <Badge tone={status === 'pending' ? 'busy' : 'good'}>{type === 'filter' ? 'true' : status}</Badge>;
}

interface StepValuesProps {
  readonly execution: Execution;
  readonly step: StepExecution;
  readonly onOpen: (id: number | undefined) => void;
}

/** Shows the values of an executed step, and offers a new run from this step on. */
function StepValues({ execution, step, onOpen }: StepValuesProps) {
  const { route } = useLocation();
  const needs = useNeeds()('createFormulaInstances');
  const path = { stepExecutionId: step.id };
  const loaded = useLoad(
    (signal) => ask(api.GET('/formulas/instances/executions/steps/{stepExecutionId}', { signal, params: { path } })),
    [step.id],
  );
  const again = useAction(async () => {
    const params = { path: { executionId: execution.id }, query: { from: step.stepName } };
    const { id } = await ask(api.PUT('/formulas/instances/executions/{executionId}/retries', { params, body: {} }));
    route(pathOfExecution(id));
  });
  return (
    <Dialog title={`Values of ${step.stepName}`} isSide onClose={() => onOpen(undefined)}>
      <Runs execution={execution} step={step} onOpen={onOpen} />
      {!isUnderWay(execution.status) && step.stepName !== 'trigger' && (
        <div class="row">
          <button type="button" {...(again.isRunning && { disabled: true })} onClick={() => again.run()} {...needs}>
            Run again from here
          </button>
          <span class="small soft">A new execution begins with this step and the values of the steps before it.</span>
        </div>
      )}
      <ErrorNote error={again.error} />
      <Show loaded={loaded}>
        {({ stepExecutionValues = [] }) =>
          stepExecutionValues.length === 0 ? (
            <Empty title="The step has no values.">
              <p>The step returned none, or the formula does not store them.</p>
            </Empty>
          ) : (
            <dl class="values">
              {stepExecutionValues.map(({ id, key, value }) => (
                <Value key={id} name={key} value={value} />
              ))}
            </dl>
          )
        }
      </Show>
    </Dialog>
  );
}

/** Links to the other runs of the same step. */
function Runs({ execution: { stepExecutions = [] }, step, onOpen }: StepValuesProps) {
  const runs = stepExecutions.filter(({ stepName }) => stepName === step.stepName);
  const place = runs.findIndex(({ id }) => id === step.id);
  if (runs.length < 2) return null;
  const [before, after] = [runs[place - 1], runs[place + 1]];
  return (
    <nav class="row" aria-label="Runs of the step">
      <button type="button" disabled={before === undefined} onClick={() => onOpen(before?.id)}>
        Previous run
      </button>
      <span>
        Run {place + 1} of {runs.length}
      </span>
      <button type="button" disabled={after === undefined} onClick={() => onOpen(after?.id)}>
        Next run
      </button>
    </nav>
  );
}

/** Maximum number of characters of a value that are shown. */
const MOST_SHOWN = 50_000;

function Value({ name, value }: { readonly name: string; readonly value: string }) {
  const shown = indent(value);
  return (
    <>
      <dt class="row apart">
        <code class="break">{name}</code>
        <Copy text={value} what={name} />
      </dt>
      <dd>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <pre class="wrap" tabIndex={0}>
          {shown === '' ? ' ' : shown.slice(0, MOST_SHOWN)}
        </pre>
        {shown.length > MOST_SHOWN && (
          <p class="small soft">These are the first {sayNumber(MOST_SHOWN)} characters. Copy the value to see all.</p>
        )}
      </dd>
    </>
  );
}

/** Prints a JSON object or array on several lines, which are easier to read. */
function indent(value: string): string {
  if (!/^[[{]/.test(value)) return value;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}
