import { useMemo, useState } from 'preact/hooks';
import { useQuery } from '../parts/query.ts';
import { Empty } from '../parts/show.tsx';
import type { LoadedFormula } from './calls.ts';
import { type Finding, placeFindings } from './findings.ts';
import { type Content, type NodeKey, type Predecessor, readFlow, TRIGGER_KEY } from './flow.ts';
import { type BoxMark, Graph } from './graph.tsx';
import { type Edited, NodeEditor } from './node-editor.tsx';
import { StepList } from './step-list.tsx';
import { useFormulaNeeds } from './use-formula-needs.ts';
import { ViewChoice } from './view-choice.tsx';

interface StepsPartProps {
  readonly loaded: LoadedFormula;
  readonly onChanged: () => void;
}

/** Shows the graph of a formula or the list of its steps, the findings of the service, and the editor of a step. */
export function StepsPart({ loaded, onChanged }: StepsPartProps) {
  const { formula, content, findings } = loaded;
  const { query, change } = useQuery();
  const [adding, setAdding] = useState<{ readonly after: Predecessor | undefined }>();
  const flow = useMemo(() => readFlow(content), [content]);
  const marks = useMemo(() => marksOf(findings), [findings]);
  const needs = useFormulaNeeds()(formula, 'editFormulas');
  const opened = keyOf(content, query.step);
  const open = (key: NodeKey) => change({ step: idOf(content, key) });
  const edited = editedOf(adding, opened);
  const close = () => {
    setAdding(undefined);
    change({ step: undefined });
  };
  return (
    <section class="stack" aria-label="Steps">
      <div class="row apart">
        <ViewChoice view={query.view} onChange={(view) => change({ view })} />
        <span class="row">
          {content.triggers.length === 0 && (
            <button type="button" onClick={() => open(TRIGGER_KEY)} {...needs}>
              Add the trigger…
            </button>
          )}
          <button type="button" onClick={() => setAdding({ after: undefined })} {...needs}>
            Add a step…
          </button>
        </span>
      </div>
      <Findings findings={findings} content={content} onOpen={open} />
      {flow.nodes.length === 0 ? (
        <Empty title="The formula has no trigger and no steps yet.">
          <p>Add the trigger first: it says what starts the formula.</p>
        </Empty>
      ) : query.view === 'list' ? (
        <StepList flow={flow} marks={marks} onOpen={open} />
      ) : (
        <Graph label={`Graph of ${formula.name}`} flow={flow} marks={marks} selected={opened} onOpen={open} />
      )}
      {edited !== undefined && (
        <NodeEditor
          key={JSON.stringify(edited)}
          {...{ loaded, edited, needs, onChanged }}
          onAdd={(after) => setAdding({ after })}
          onClose={close}
        />
      )}
    </section>
  );
}

function editedOf(
  adding: { readonly after: Predecessor | undefined } | undefined,
  opened: NodeKey | undefined,
): Edited | undefined {
  if (adding !== undefined) return { kind: 'new', after: adding.after };
  return opened === undefined ? undefined : { kind: 'node', key: opened };
}

/** The word that stands for the trigger in an address. A formula without a trigger has no id for it. */
const TRIGGER_WORD = 'trigger';

function idOf({ steps }: Content, key: NodeKey): string {
  return key === TRIGGER_KEY ? TRIGGER_WORD : String(steps[key - 1]?.id ?? '');
}

function keyOf({ steps }: Content, id: string | undefined): NodeKey | undefined {
  if (id === TRIGGER_WORD) return TRIGGER_KEY;
  const index = steps.findIndex((step) => String(step.id) === id);
  return index < 0 ? undefined : index + 1;
}

function marksOf(findings: readonly Finding[]): ReadonlyMap<NodeKey, readonly BoxMark[]> {
  const { byNode } = placeFindings(findings);
  return new Map(
    [...byNode].map(([key, all]): [NodeKey, readonly BoxMark[]] => {
      const errors = all.filter(({ severity }) => severity === 'error').length;
      const says = `${all.length} ${all.length === 1 ? 'finding' : 'findings'}`;
      return [key, [{ tone: errors > 0 ? 'bad' : 'warn', sign: `! ${all.length}`, says }]];
    }),
  );
}

interface FindingsProps {
  readonly findings: readonly Finding[];
  readonly content: Content;
  readonly onOpen: (key: NodeKey) => void;
}

/** Lists everything that the service found in the formula, with links to the steps. */
function Findings({ findings, content, onOpen }: FindingsProps) {
  if (findings.length === 0) return null;
  const { byNode, byVariable, others } = placeFindings(findings);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const nameOf = (key: NodeKey) => (key === TRIGGER_KEY ? 'trigger' : (content.steps[key - 1]?.name ?? ''));
  return (
    <details class={`note ${errors > 0 ? 'bad' : 'warn'}`} open={findings.length <= 3}>
      <summary class="strong">
        {errors > 0 ? `Executions fail: ${sayCount(errors, 'error')}` : sayCount(findings.length, 'warning')}
        {errors > 0 && findings.length > errors && `, ${sayCount(findings.length - errors, 'warning')}`}
      </summary>
      <ul>
        {[...others, ...[...byVariable.values()].flat()].map(({ path, message }) => (
          <li key={path + message}>{message}</li>
        ))}
        {[...byNode].flatMap(([key, all]) =>
          all.map(({ path, message }) => (
            <li key={path + message}>
              <button type="button" class="plain" onClick={() => onOpen(key)}>
                {nameOf(key)}
              </button>{' '}
              {message}
            </li>
          )),
        )}
      </ul>
    </details>
  );
}

function sayCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
