import { type ConnectEvent, type ConnectMessage, FROM, type RefusedEvent, SOURCE } from './messages.ts';
import type { SessionState } from './session.ts';

/** The host: the page that shows this one in a frame or has opened its window. */

export const isFramed = window.parent !== window;
const opener: Window | null = window.opener;
const host = isFramed ? window.parent : opener;

/** Origins that the host claims. Browsers deliver a message only to its target origin, so a false claim receives nothing. */
const claims = new URLSearchParams(location.search).getAll(FROM);
const [claimed] = claims;
/** Not every browser has `ancestorOrigins`. */
const origin = claimed ?? (isFramed ? location.ancestorOrigins?.[0] : undefined);

/** Whether messages report the outcome of the session to the page, instead of a redirect. */
export const isReported = isFramed || (opener !== null && claimed !== undefined);

type ReportedSession = Pick<SessionState, 'id' | 'origins'>;

/** Posts an event of the session to the registered origins, or to the right one if it is known. */
export function report({ id: sessionId, origins }: ReportedSession, event: ConnectEvent): void {
  const known = origins.find((each) => each === origin);
  for (const target of known === undefined ? origins : [known]) post({ source: SOURCE, sessionId, ...event }, target);
}

/**
 * Sends an event from a page without a session. @param refused origin that may not show the page; default: the origin that receives the
 * message
 */
export function reportRefused(event: RefusedEvent, refused = 'null'): void {
  const target = claimed ?? refused;
  // A page without an origin cannot be addressed by name.
  post({ source: SOURCE, ...event }, target === 'null' ? '*' : target);
}

function post(message: ConnectMessage, target: string): void {
  host?.postMessage(message, target);
}

/**
 * Returns the address at which an element is connected or, without an element, at which it is chosen. The address keeps the claimed
 * origins.
 */
export function addressOf(element?: string): string {
  const query = new URLSearchParams(claims.map((claim) => [FROM, claim]));
  if (element !== undefined) query.set('element', element);
  return query.size === 0 ? location.pathname : `${location.pathname}?${query}`;
}

/** Calls back when a window that this page opened has returned from a provider. */
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
