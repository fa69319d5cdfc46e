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
  readonly faults: ReadonlySet<number>;
  /** The name of the step whose runs are shown; undefined: all. */
  readonly onlyStep: string | undefined;
  readonly onAll: () => void;
  readonly types: ReadonlyMap<string, Step['type']>;
}

const PAGE_SIZE = 100;
/** The service returns no more of them with an execution. */
const MOST_STEPS = 5_000;

/** The executed steps in their order. */
export function ExecutedSteps({ execution, faults, onlyStep, onAll, types }: ExecutedStepsProps) {
  const { stepExecutions = [] } = execution;
  const [count, setCount] = useState(PAGE_SIZE);
  const [opened, setOpened] = useState<StepExecution>();
  const rows = onlyStep === undefined ? stepExecutions : stepExecutions.filter(({ stepName }) => stepName === onlyStep);
  return (
    <section class="stack tight" aria-labelledby="steps">
      <div class="row apart">
        <h2 id="steps" class="break">
          {onlyStep === undefined ? 'Executed steps' : `Runs of ${onlyStep}`}
        </h2>
        {onlyStep !== undefined && (
          <button type="button" class="plain" onClick={onAll}>
            Show all steps
          </button>
        )}
      </div>
      {rows.length === 0 ? (
        <Empty title={sayNothing(execution, onlyStep)} />
      ) : (
        <ol class="executed">
          {rows.slice(0, count).map((row) => (
            <li key={row.id}>
              <button type="button" class="plain strong break" onClick={() => setOpened(row)}>
                {row.stepName}
              </button>
              <Outcome row={row} isFault={faults.has(row.id)} type={types.get(row.stepName)} />
              {row.restarted === true && (
                <Badge tone="warn" title="Its process ended while it ran. What it did may have happened twice.">
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
      {rows.length > count && (
        <button type="button" onClick={() => setCount(count + PAGE_SIZE * 10)}>
          Show more of {sayNumber(rows.length)}
        </button>
      )}
      {stepExecutions.length === MOST_STEPS && (
        <p class="small soft">These are the first {sayNumber(MOST_STEPS)} steps of the execution.</p>
      )}
      {opened !== undefined && <StepValues execution={execution} step={opened} onClose={() => setOpened(undefined)} />}
    </section>
  );
}

function sayNothing({ status }: Execution, onlyStep: string | undefined): string {
  if (onlyStep !== undefined) return isUnderWay(status) ? 'The step has not run yet.' : 'The step did not run.';
  return isUnderWay(status) ? 'No step has run yet.' : 'The steps are no longer kept.';
}

const QUIET_ENDS: Readonly<Partial<Record<Step['type'], string>>> = { filter: 'false', loop: 'end' };

interface OutcomeProps {
  readonly row: StepExecution;
  readonly isFault: boolean;
  readonly type: Step['type'] | undefined;
}

/** The outcome of a step. A filter that says false, and the end of a loop, are no failures. */
function Outcome({ row: { status }, isFault, type }: OutcomeProps) {
  if (isFault) return <Badge tone="bad">failed</Badge>;
  const words = type === undefined ? undefined : QUIET_ENDS[type];
  if (status === 'failed') return <Badge tone="quiet">{words ?? 'failed'}</Badge>;
  return <Badge tone={status === 'pending' ? 'busy' : 'good'}>{type === 'filter' ? 'true' : status}</Badge>;
}

interface StepValuesProps {
  readonly execution: Execution;
  readonly step: StepExecution;
  readonly onClose: () => void;
}

/** The values of an executed step, and a run from this step on. */
function StepValues({ execution, step, onClose }: StepValuesProps) {
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
    onClose();
    route(pathOfExecution(id));
  });
  return (
    <Dialog title={`Values of ${step.stepName}`} isSide onClose={onClose}>
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
              <p>It left none, or the formula does not store them.</p>
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
          {shown === '' ? ' ' : shown}
        </pre>
      </dd>
    </>
  );
}

/** Objects and arrays in JSON are easier to read with lines. */
function indent(value: string): string {
  if (!/^[[{]/.test(value)) return value;
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}
