import { type ConnectEvent, type ConnectMessage, FROM, SOURCE } from './messages.ts';
import type { PageSession } from './session.ts';

/** The page that has this one in a frame, or has opened its window. */

export const isFramed = window.parent !== window;
const opener: Window | null = window.opener;
const host = isFramed ? window.parent : opener;

/** What it says of itself: it is believed where it is a registered origin, and browsers see to it that it is true. */
const claimed = new URLSearchParams(location.hash.slice(1)).get(FROM);

/** Whether it is told what has come of the session, by messages rather than by an address to return to. */
export const isTold = isFramed || (opener !== null && claimed !== null);

type ToldSession = Pick<PageSession, 'id' | 'origins'>;

/** Only to registered origins, and to the right one where it is known. */
export function tell({ id: sessionId, origins }: ToldSession, event: ConnectEvent): void {
  if (host === null) return;
  const message: ConnectMessage = { source: SOURCE, sessionId, ...event };
  const known = origins.find((origin) => origin === claimed);
  for (const origin of known === undefined ? origins : [known]) host.postMessage(message, origin);
}

/** Calls back when a window that this page opened has come back from a provider. */
export function onReturn(callBack: () => void): () => void {
  const read = ({ data, origin }: MessageEvent<{ readonly source?: unknown; readonly type?: unknown } | null>) => {
    if (origin === location.origin && data?.source === SOURCE && data.type === 'returned') callBack();
  };
  addEventListener('message', read);
  return () => removeEventListener('message', read);
}
