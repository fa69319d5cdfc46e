import type { ComponentChildren } from 'preact';
import { Copy } from './copy.tsx';
import { Dialog } from './dialog.tsx';

interface ShownOnceProps {
  readonly title: string;
  readonly text: string;
  /** Names the text for people who cannot see the dialog. */
  readonly what: string;
  readonly onClose: () => void;
  /** Says what the text is for. */
  readonly children: ComponentChildren;
}

/** Shows a text that cannot be seen again, to be copied. */
export function ShownOnce({ title, text, what, onClose, children }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <div class="note">
        <div class="row apart">
          <code class="break">{text}</code>
          <Copy text={text} what={what} />
        </div>
      </div>
      <footer class="row end">
        <button type="button" class="main" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  );
}
