import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Whether the dialog stands at the edge of the page and is as high as the window, for content that belongs beside the page. */
  readonly isSide?: boolean;
  /** Whether Escape and the cross only call `onClose` and leave the dialog open, so that the owner can ask first. */
  readonly isKept?: boolean;
}

/**
 * A dialog above the page. It holds the focus, which returns to its former place at the end. Escape and the cross close it and call
 * `onClose`. A dialog that the owner removes does not call `onClose`.
 */
export function Dialog({ title, onClose, children, isSide = false, isKept = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isSide ? 'side' : undefined}
      aria-label={title}
      onCancel={(event) => {
        if (!isKept || event.target !== event.currentTarget) return;
        event.preventDefault();
        onClose();
      }}
      onClose={({ currentTarget, target }) => {
        if (!currentTarget.isConnected || target !== currentTarget) return;
        // Browsers close a dialog at the second Escape, even if the page prevents the first one.
        if (isKept) currentTarget.showModal();
        onClose();
      }}
    >
      <header class="row apart">
        <h2>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
