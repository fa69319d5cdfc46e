import type { ComponentChildren } from 'preact';
import { useAction } from '../load.ts';
import { Dialog } from './dialog.tsx';
import { ErrorNote } from './show.tsx';

interface ConfirmProps {
  readonly title: string;
  /** What the button says: a verb and what it is done to. */
  readonly action: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
  /** Nothing is lost by it. */
  readonly isHarmless?: boolean;
  /** What will happen. */
  readonly children: ComponentChildren;
}

/** Asks before something that cannot be undone, or that reaches far. Closes when it is done. */
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
