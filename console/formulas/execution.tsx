import { useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask } from '../api.ts';
import { useAction, useLoad } from '../load.ts';
import { Fact } from '../parts/fact.tsx';
import { useQuery } from '../parts/query.ts';
import { ErrorNote, Show } from '../parts/show.tsx';
import { sayDuration, Time } from '../parts/time.tsx';
import { useNeeds } from '../who.ts';
import type { Execution, StepExecution } from './calls.ts';
import { ExecutedSteps } from './executed-steps.tsx';
import { type Background, loadBackground } from './execution-calls.ts';
import { ExecutionState, isUnderWay, POLL_MS } from './execution-state.tsx';
import { type Content, type Flow, type NodeKey, readFlow, TRIGGER_KEY } from './flow.ts';
import { type BoxMark, Graph } from './graph.tsx';
import { findPath, type PathTaken } from './path-taken.ts';
import { LIST_PATH, pathOfExecution, pathOfInstance } from './paths.ts';
import { StepList } from './step-list.tsx';
import { ViewChoice } from './view-choice.tsx';

/** Shows one execution: its path through the graph, its steps and their values. */
export function ExecutionPage({ id }: { readonly id: number }) {
  const [isBusy, setBusy] = useState(true);
  const loaded = useLoad(
    (signal) =>
      ask(api.GET('/formulas/instances/executions/{executionId}', { signal, params: { path: { executionId: id } } })),
    [id],
    { everyMs: isBusy ? POLL_MS : undefined },
  );
  const { value, error } = loaded;
  useEffect(() => setBusy(error === undefined && (value === undefined || isUnderWay(value.status))), [value, error]);
  return (
    <div class="stack">
      <Show loaded={loaded}>{(execution) => <Shown execution={execution} onChanged={loaded.reload} />}</Show>
    </div>
  );
}

function Shown({ execution, onChanged }: { readonly execution: Execution; readonly onChanged: () => void }) {
  const { formulaInstanceId, formulaVersion } = execution;
  const background = useLoad(
    (signal) => loadBackground({ formulaInstanceId, formulaVersion }, signal),
    [formulaInstanceId, formulaVersion],
  );
  return (
    <>
      {background.value?.instance === undefined ? (
        <a href={LIST_PATH}>← Formulas</a>
      ) : (
        <a href={pathOfInstance(formulaInstanceId)}>← {background.value.instance.name}</a>
      )}
      <Head execution={execution} onChanged={onChanged} />
      <Facts execution={execution} background={background.value} />
      <Show loaded={background}>{({ content }) => <Way execution={execution} content={content} />}</Show>
    </>
  );
}

function Facts({
  execution,
  background,
}: {
  readonly execution: Execution;
  readonly background: Background | undefined;
}) {
  const { status, createdDate, updatedDate, formulaVersion } = execution;
  return (
    <dl class="facts">
      {background?.instance !== undefined && (
        <Fact name="Formula">
          <a href={`${LIST_PATH}/${background.instance.formula.id}`}>
            {background.formulaName ?? `#${background.instance.formula.id}`}
          </a>
        </Fact>
      )}
      {formulaVersion !== undefined && <Fact name="Version">{formulaVersion}</Fact>}
      <Fact name="Started">
        <Time at={createdDate} />
      </Fact>
      {!isUnderWay(status) && <Fact name="Took">{sayDuration(Date.parse(updatedDate) - Date.parse(createdDate))}</Fact>}
    </dl>
  );
}

function Head({ execution, onChanged }: { readonly execution: Execution; readonly onChanged: () => void }) {
  const { id, status } = execution;
  const needs = useNeeds()('createFormulaInstances');
  const { route } = useLocation();
  const params = { path: { executionId: id } };
  const cancel = useAction(async () => {
    await ask(api.PATCH('/formulas/instances/executions/{executionId}', { params, body: { status: 'cancelled' } }));
    onChanged();
  });
  const forget = useAction(async () => {
    await ask(api.DELETE('/formulas/instances/executions/{executionId}/retries', { params }));
    onChanged();
  });
  const again = useAction(async () => {
    const { id: next } = await ask(
      api.PUT('/formulas/instances/executions/{executionId}/retries', { params, body: {} }),
    );
    route(pathOfExecution(next));
  });
  return (
    <>
      <header class="row apart">
        <h1 class="row">
          Execution #{id} <ExecutionState status={status} />
        </h1>
        <span class="row">
          {isUnderWay(status) && (
            <button type="button" {...(cancel.isRunning && { disabled: true })} onClick={() => cancel.run()} {...needs}>
              Cancel
            </button>
          )}
          {status === 'retry' && (
            <button type="button" {...(forget.isRunning && { disabled: true })} onClick={() => forget.run()} {...needs}>
              Cancel the planned retry
            </button>
          )}
          {!isUnderWay(status) && (
            <button
              type="button"
              class="main"
              {...(again.isRunning && { disabled: true })}
              onClick={() => again.run()}
              {...needs}
            >
              Run again
            </button>
          )}
        </span>
      </header>
      <ErrorNote error={cancel.error ?? forget.error ?? again.error} />
      <span class="unseen" role="status">
        {isUnderWay(status) ? '' : `The execution has ended: ${status}`}
      </span>
    </>
  );
}

interface WayProps {
  readonly execution: Execution;
  readonly content: Content | undefined;
}

/** Shows the graph with the path of the execution, and the executed steps. A click on a box opens the values of its last run. */
function Way({ execution, content }: WayProps) {
  const { query, change } = useQuery();
  const { stepExecutions = [] } = execution;
  const flow = useMemo(() => (content === undefined ? undefined : readFlow(content)), [content]);
  const path = useMemo(
    () => flow && findPath(flow, stepExecutions, isUnderWay(execution.status)),
    [flow, stepExecutions, execution.status],
  );
  const marks = useMemo(
    () => (flow && path ? marksOf(flow, path, stepExecutions) : new Map()),
    [flow, path, stepExecutions],
  );
  const opened = stepExecutions.find(({ id }) => String(id) === query.step);
  const selected = opened && flow?.nodes.find(({ key, name }) => nameIn(key, name) === opened.stepName)?.key;
  const open = (key: NodeKey) => {
    const node = flow?.nodes.find((each) => each.key === key);
    const last = stepExecutions.findLast(({ stepName }) => node && stepName === nameIn(key, node.name));
    if (last !== undefined) change({ step: String(last.id) });
  };
  return (
    <>
      {flow !== undefined && path !== undefined && flow.nodes.length > 0 && (
        <section class="stack tight" aria-label="Path">
          <ViewChoice view={query.view} onChange={(view) => change({ view })} />
          {query.view === 'list' ? (
            <StepList flow={flow} marks={marks} onOpen={open} />
          ) : (
            <Graph
              label="Path of the execution"
              flow={flow}
              marks={marks}
              path={path}
              selected={selected}
              onOpen={open}
            />
          )}
        </section>
      )}
      <ExecutedSteps
        execution={execution}
        opened={opened}
        onOpen={(id) => change({ step: id === undefined ? undefined : String(id) })}
        types={new Map(content?.steps.map(({ name, type }) => [name, type]))}
      />
    </>
  );
}

function marksOf(
  flow: Flow,
  { visits, next }: PathTaken,
  stepExecutions: readonly StepExecution[],
): ReadonlyMap<NodeKey, readonly BoxMark[]> {
  const failed = new Set(stepExecutions.filter(({ fault }) => fault).map(({ stepName }) => stepName));
  return new Map(
    flow.nodes.map(({ key, name }): [NodeKey, readonly BoxMark[]] => {
      const visit = visits.get(key);
      if (visit === undefined)
        return [key, [next.has(key) ? mark('busy', '…', 'comes next') : mark('quiet', '', 'did not run')]];
      const isFault = key !== TRIGGER_KEY && failed.has(name);
      const count = visit.count > 1 ? ` ×${visit.count}` : '';
      const times = visit.count > 1 ? `, ${visit.count} runs` : '';
      return [key, [isFault ? mark('bad', `✗${count}`, `failed${times}`) : mark('good', `✓${count}`, `ran${times}`)]];
    }),
  );
}

/** Returns the name of a box in the list of executed steps. */
function nameIn(key: NodeKey, name: string): string {
  return key === TRIGGER_KEY ? 'trigger' : name;
}

function mark(tone: BoxMark['tone'], sign: string, says: string): BoxMark {
  return { tone, sign, says };
}
