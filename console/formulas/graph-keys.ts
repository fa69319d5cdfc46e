import type { Flow, NodeKey, Way } from './flow.ts';

const MOVES = ['ArrowDown', 'ArrowRight', 'ArrowUp', 'ArrowLeft', 'Home', 'End', 'PageDown', 'PageUp'] as const;
export type Move = (typeof MOVES)[number];

export function isMove(key: string): key is Move {
  return MOVES.some((each) => each === key);
}

/**
 * Returns the box that a key moves the focus to: down along the arrow of success, right along that of failure, and up or left back along an
 * arrow. Page keys go through all boxes in their order.
 * @param cameFrom the box that had the focus before, to which the up key returns
 */
export function findNeighbour(
  { nodes, edges }: Flow,
  key: NodeKey,
  move: Move,
  cameFrom: NodeKey | undefined,
): NodeKey | undefined {
  const follow = (way: Way, other: Way) => {
    const leaving = edges.filter(({ from, to }) => from === key && to !== key);
    return (leaving.find((edge) => edge.way === way) ?? leaving.find((edge) => edge.way === other))?.to;
  };
  const goBack = () => {
    const earlier = edges.filter(({ from, to }) => to === key && from !== key).map(({ from }) => from);
    return earlier.find((from) => from === cameFrom) ?? earlier[0];
  };
  const place = nodes.findIndex((node) => node.key === key);
  const moves: Readonly<Record<Move, () => NodeKey | undefined>> = {
    ArrowDown: () => follow('success', 'failure'),
    ArrowRight: () => follow('failure', 'success'),
    ArrowUp: goBack,
    ArrowLeft: goBack,
    Home: () => nodes[0]?.key,
    End: () => nodes.at(-1)?.key,
    PageDown: () => nodes[place + 1]?.key,
    PageUp: () => nodes[place - 1]?.key,
  };
  return moves[move]();
}
