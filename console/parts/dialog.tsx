import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** For what stands beside others: at the edge of the page, as high as it. */
  readonly isSide?: boolean;
  /** Escape and the cross only call `onClose`: the owner may ask first. */
  readonly isKept?: boolean;
}

/** Above the page until it is closed, also by Escape; the focus stays in it and goes back where it was. Taken away it does not say that it was closed. */
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
        // Browsers close a dialog at the second Escape, whatever it does at the first.
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
