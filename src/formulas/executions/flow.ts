import type { Step } from '../model.ts';
import type { Frame } from './model.ts';

/** Returns the frame after a step, with the steps that follow it on the way that its outcome takes. */
export function follow(frame: Frame, step: Step, isSuccess: boolean): Frame {
  const following = isSuccess ? step.onSuccess : step.onFailure;
  return { ...frame, stack: [...frame.stack.slice(0, -1), ...following.toReversed()], last: step.name };
}

/** The next turn of a loop. */
type LoopTurn =
  | { readonly kind: 'entry'; readonly index: number; readonly entry: unknown; readonly frame: Frame }
  | { readonly kind: 'end'; readonly frame: Frame };

/**
 * Takes the next entry of a list, or ends the loop. The end takes the way of a failure and is none (formulas.md, 9). A loop that is reached
 * again after its end begins with its first entry.
 */
export function takeTurn(frame: Frame, step: Step, list: readonly unknown[]): LoopTurn {
  const { [step.name]: current, ...others } = frame.loops;
  const index = current === undefined ? 0 : current + 1;
  if (index >= list.length) return { kind: 'end', frame: { ...follow(frame, step, false), loops: others } };
  const next = follow(frame, step, true);
  return { kind: 'entry', index, entry: list[index], frame: { ...next, loops: { ...others, [step.name]: index } } };
}
