import { type ConnectEvent, type ConnectMessage, FROM, SOURCE } from './messages.ts';
import type { SessionState } from './session.ts';

/** The page that has this one in a frame, or has opened its window. */

export const isFramed = window.parent !== window;
const opener: Window | null = window.opener;
const host = isFramed ? window.parent : opener;

/** What it says of itself: browsers see to it that what is told to an origin comes to no other. */
const claimed = new URLSearchParams(location.hash.slice(1)).get(FROM);
/** Not every browser says it. */
const origin = claimed ?? (isFramed ? location.ancestorOrigins?.[0] : undefined);

/** Whether it is told what has come of the session, by messages rather than by an address to return to. */
export const isTold = isFramed || (opener !== null && claimed !== null);

type ToldSession = Pick<SessionState, 'id' | 'origins'>;

/** Only to registered origins, and to the right one where it is known. */
export function tell({ id: sessionId, origins }: ToldSession, event: ConnectEvent): void {
  if (host === null) return;
  const message: ConnectMessage = { source: SOURCE, sessionId, ...event };
  const known = origins.find((each) => each === origin);
  for (const target of known === undefined ? origins : [known]) host.postMessage(message, target);
}

/** Calls back when a window that this page opened has come back from a provider. */
export function onReturn(callBack: () => void): () => void {
  const read = ({
    data,
    origin: sender,
  }: MessageEvent<{ readonly source?: unknown; readonly type?: unknown } | null>) => {
    if (sender === location.origin && data?.source === SOURCE && data.type === 'returned') callBack();
  };
  addEventListener('message', read);
  return () => removeEventListener('message', read);
}
