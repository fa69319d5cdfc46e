import { useEffect } from 'preact/hooks';
import { type Failed, Failure } from './failure.tsx';
import { Heading } from './heading.tsx';
import { onReturn } from './host.ts';
import type { OfferedElement } from './session.ts';
import { texts } from './texts.ts';

const ASK_MS = 1500;

interface WaitingProps {
  readonly element: OfferedElement;
  readonly otherLink: string | undefined;
  readonly reload: () => void;
  /** Whether the session is being requested now. */
  readonly isAsking: boolean;
  /** Whether the browser opened no window. */
  readonly isBlocked: boolean;
  readonly failed: Failed | undefined;
  readonly isBusy: boolean;
  readonly openAgain: () => void;
  readonly goBack: () => void;
}

/**
 * Shown while the user is at a provider in a separate window. This page cannot detect whether that window is still open, because providers
 * may cut the link to it.
 */
export function Waiting({
  element,
  otherLink,
  reload,
  isAsking,
  isBlocked,
  failed,
  isBusy,
  openAgain,
  goBack,
}: WaitingProps) {
  const { name } = element;
  useEffect(() => onReturn(reload), [reload]);
  // The delay begins again after a request, even a failed one.
  useEffect(() => {
    if (isAsking) return;
    const timer = setTimeout(reload, ASK_MS);
    return () => clearTimeout(timer);
  }, [isAsking, reload]);
  return (
    <>
      <Heading element={element} title={texts.waiting.title(name)} otherLink={otherLink} />
      {failed !== undefined && <Failure failed={failed} name={name} />}
      {isBlocked ? (
        <p class="note warn" role="alert">
          {texts.waiting.blocked(name)}
        </p>
      ) : (
        <p class="soft" role="status">
          {texts.waiting.words(name)}
        </p>
      )}
      <footer class="row">
        <button type="button" class={isBlocked ? 'main' : undefined} disabled={isBusy} onClick={openAgain}>
          {isBlocked ? texts.waiting.open(name) : texts.waiting.openAgain}
        </button>
        <button type="button" disabled={isBusy} onClick={goBack}>
          {texts.waiting.back}
        </button>
      </footer>
    </>
  );
}
