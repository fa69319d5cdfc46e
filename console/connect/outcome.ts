import type { ConnectEvent } from './messages.ts';
import type { SessionState } from './session.ts';
import { texts } from './texts.ts';

/** The end of a session, in a form for the user and as an event for the page that shows this one. */
export interface SessionEnd {
  readonly kind: 'done' | 'used' | 'ended' | 'expired';
  readonly event: ConnectEvent;
}

/** Returns the end of a session. Undefined while the session is open. @param isOurs whether an action on this page ended the session */
export function endingOf({ status, instanceId }: SessionState, isOurs: boolean): SessionEnd | undefined {
  if (status === 'open') return undefined;
  if (status === 'expired') return failed('expired');
  if (status === 'completed' && instanceId !== undefined)
    return isOurs ? { kind: 'done', event: { type: 'done', instanceId } } : failed('used');
  return isOurs ? { kind: 'ended', event: { type: 'closed' } } : failed('ended');
}

function failed(kind: 'used' | 'ended' | 'expired'): SessionEnd {
  return { kind, event: { type: 'error', error: { code: kind, message: texts.ended[kind].message } } };
}

/** Returns the texts for the end of a session. */
export function endingTexts({ kind }: SessionEnd, { returnUrl }: SessionState) {
  const isGood = kind === 'done';
  const { title, message } = isGood ? texts.done : texts.ended[kind];
  const label = isGood ? texts.done.goOn : texts.ended.goBack;
  return { title, message, isGood, link: returnUrl === undefined ? undefined : { url: returnUrl, label } };
}
