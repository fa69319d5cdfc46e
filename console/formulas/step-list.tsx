import { type Flow, type NodeKey, sayWay, TRIGGER_KEY, type Way } from './flow.ts';
import type { BoxMark } from './graph.tsx';
import { infoOf } from './step-types.ts';

interface StepListProps {
  readonly flow: Flow;
  readonly marks: ReadonlyMap<NodeKey, readonly BoxMark[]>;
  readonly onOpen: (key: NodeKey) => void;
}

/** Shows the graph as a list. */
export function StepList({ flow, marks, onOpen }: StepListProps) {
  return (
    <ol class="steps" aria-label="Trigger and steps">
      {flow.nodes.map(({ key, name, type }) => (
        <li key={key}>
          <div class="row">
            <button type="button" class="plain strong break" onClick={() => onOpen(key)}>
              {name}
            </button>
            <span class="soft">
              {key === TRIGGER_KEY && 'Trigger · '}
              {infoOf(type, key === TRIGGER_KEY).title}
            </span>
            {(marks.get(key) ?? []).map(({ tone, says }) => (
              <span key={says} class={`badge ${tone}`}>
                {says}
              </span>
            ))}
          </div>
          {(['success', 'failure'] as const).map((way) => (
            <Following
              key={way}
              flow={flow}
              from={key}
              way={way}
              words={sayWay(type, way) || 'success'}
              onOpen={onOpen}
            />
          ))}
        </li>
      ))}
    </ol>
  );
}

interface FollowingProps extends Pick<StepListProps, 'flow' | 'onOpen'> {
  readonly from: NodeKey;
  readonly way: Way;
  readonly words: string;
}

function Following({ flow: { nodes, edges }, from, way, words, onOpen }: FollowingProps) {
  const targets = edges.filter((edge) => edge.from === from && edge.way === way);
  if (targets.length === 0) return null;
  return (
    <div class="row small">
      <span class="soft">{words} →</span>
      {targets.map(({ to }) => (
        <button key={to} type="button" class="plain break" onClick={() => onOpen(to)}>
          {nodes.find(({ key }) => key === to)?.name}
        </button>
      ))}
    </div>
  );
}
