/** The messages from the connect page to the page that shows it, which the script there understands. */
export type ConnectMessage = { readonly source: typeof SOURCE } & (
  | ({ readonly sessionId: number } & ConnectEvent)
  | RefusedEvent
);

export type ConnectEvent =
  /** The account is connected. */
  | { readonly type: 'done'; readonly instanceId: number }
  /** The user has given up. */
  | { readonly type: 'closed' }
  /** The session connects nothing any more. */
  | { readonly type: 'error'; readonly error: ConnectFailure }
  /** Its content is as high as this, in CSS pixels. */
  | { readonly type: 'resize'; readonly height: number };

/** A message of the page that replaces the connect page: it knows no session. */
export type RefusedEvent = Extract<ConnectEvent, { readonly type: 'closed' | 'error' | 'resize' }>;

export interface ConnectFailure {
  readonly code: string;
  readonly message: string;
}

export const SOURCE = 'causeway';
/** In the query of the page's address: the origin of the page that shows it, and then those of the pages around that one. */
export const FROM = 'from';
/** The code for a page that may not show it. What stands there says why, and stays until it is closed. */
export const UNREGISTERED = 'unregistered';
