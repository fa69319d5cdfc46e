import type { StepDraft } from './draft.ts';

/**
 * Returns the names of the steps of a circle, in their order, or undefined where there is none. A circle through a loop is no circle: the
 * loop ends it.
 */
export function findCircle(steps: readonly StepDraft[]): readonly string[] | undefined {
  const next = new Map(
    steps
      .filter(({ type }) => type !== 'loop')
      .map(({ name, onSuccess, onFailure }) => [name, [...onSuccess, ...onFailure]] as const),
  );
  const done = new Set<string>();
  for (const start of next.keys()) {
    const circle = followFrom(start, next, done);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

/** Follows every way from a step, with a stack of its own, because a chain of steps may be long. */
function followFrom(
  start: string,
  next: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
): readonly string[] | undefined {
  const way: string[] = [];
  const open = new Set<string>();
  const waiting: { readonly name: string; readonly isLeft: boolean }[] = [{ name: start, isLeft: false }];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { name, isLeft } = at;
    if (isLeft) {
      way.pop();
      open.delete(name);
      done.add(name);
      continue;
    }
    if (open.has(name)) return way.slice(way.indexOf(name));
    const following = next.get(name);
    if (following === undefined || done.has(name)) continue;
    way.push(name);
    open.add(name);
    waiting.push({ name, isLeft: true });
    // The first one is followed first.
    for (const other of following.toReversed()) waiting.push({ name: other, isLeft: false });
  }
  return undefined;
}
