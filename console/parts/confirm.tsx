import type { ComponentChildren } from 'preact';
import { useAction } from '../load.ts';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './show.tsx';

interface ConfirmProps {
  readonly title: string;
  /** The label of the button: a verb and its object. */
  readonly action: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
  /** Whether the action loses nothing. Then its button does not warn. */
  readonly isHarmless?: boolean;
  /** The effect of the action. */
  readonly children: ComponentChildren;
}

/** Asks for confirmation of an action that cannot be undone or has a wide effect. It closes when the action is done. */
export function Confirm({ title, action, onConfirm, onClose, isHarmless = false, children }: ConfirmProps) {
  const { run, isRunning, error } = useAction(async () => {
    await onConfirm();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <ErrorNote error={error} />
      <footer class="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class={isHarmless ? 'main' : 'danger'} disabled={isRunning} onClick={() => run()}>
          {action}
        </button>
      </footer>
    </Dialog>
  );
}
