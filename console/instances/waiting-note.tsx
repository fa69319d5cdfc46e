import type { Waiting } from './authorization.ts';

const WAITING: Readonly<Record<Waiting['window'], (name: string) => string>> = {
  open: (name) => `Log in at ${name} in the window that has opened, and allow the access. This page then continues.`,
  closed: (name) => `The window of ${name} was closed, or this page cannot reach it. Nothing is connected yet.`,
  blocked: (name) => `The browser blocked the window of ${name}. Allow pop-up windows for this page, or open it here.`,
};

/** A note that is shown while the user may be at the provider's page. */
export function WaitingNote({
  name,
  waiting: { window, reopen, cancel },
}: {
  readonly name: string;
  readonly waiting: Waiting;
}) {
  return (
    <div class={window === 'open' ? 'note' : 'note warn'} role="status">
      <p>{WAITING[window](name)}</p>
      <p class="row">
        {window !== 'open' && (
          <button type="button" class="plain" onClick={reopen}>
            {window === 'closed' ? 'Try again' : 'Open the window'}
          </button>
        )}
        <button type="button" class="plain" onClick={cancel}>
          Cancel
        </button>
      </p>
    </div>
  );
}
