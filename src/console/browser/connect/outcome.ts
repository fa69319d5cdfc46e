import type { ConnectEvent } from './messages.ts';
import type { PageSession } from './session.ts';
import { texts } from './texts.ts';

/** How a session has ended, for those who look at the page and for the page that shows it. */
export interface Ending {
  readonly kind: 'done' | 'used' | 'ended' | 'expired';
  readonly event: ConnectEvent;
}

/** @param wasOpen whether it ended here: the address of one that ended before is of no use any more */
export function endingOf({ status, instanceId }: PageSession, wasOpen: boolean): Ending {
  if (status === 'expired') return failed('expired');
  if (status === 'completed' && instanceId !== undefined)
    return wasOpen ? { kind: 'done', event: { type: 'done', instanceId } } : failed('used');
  return wasOpen ? { kind: 'ended', event: { type: 'closed' } } : failed('ended');
}

function failed(kind: 'used' | 'ended' | 'expired'): Ending {
  return { kind, event: { type: 'error', error: { code: kind, message: texts.ended[kind].message } } };
}

/** What the page says. */
export function endingTexts({ kind }: Ending, { returnUrl }: PageSession) {
  const isGood = kind === 'done';
  const { title, message } = isGood ? texts.done : texts.ended[kind];
  const label = isGood ? texts.done.goOn : texts.ended.goBack;
  return { title, message, isGood, link: returnUrl === undefined ? undefined : { url: returnUrl, label } };
}
