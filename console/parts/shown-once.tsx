import type { ComponentChildren } from 'preact';
import { Copy } from './copy.tsx';
import { Dialog } from './dialog.tsx';

interface ShownOnceProps {
  readonly title: string;
  readonly text: string;
  /** Name of the text for screen readers. */
  readonly what: string;
  readonly onClose: () => void;
  /** Explains the purpose of the text. */
  readonly children: ComponentChildren;
  /** Ways to use the text, below it. */
  readonly uses?: ComponentChildren;
}

/** Shows a text to copy that the API does not return again. */
export function ShownOnce({ title, text, what, onClose, children, uses }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <div class="note">
        <div class="row apart">
          <code class="break">{text}</code>
          <Copy text={text} what={what} />
        </div>
      </div>
      {uses}
      <footer class="row end">
        <button type="button" class="main" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  );
}
