/** A message from the connect page to the page that shows it. `connect-script.ts` receives it. */
export type ConnectMessage = { readonly source: typeof SOURCE } & (
  | ({ readonly sessionId: number } & ConnectEvent)
  | RefusedEvent
);

export type ConnectEvent =
  /** The account is connected. */
  | { readonly type: 'done'; readonly instanceId: number }
  /** The user has cancelled. */
  | { readonly type: 'closed' }
  /** The session has ended and cannot connect an account any more. */
  | { readonly type: 'error'; readonly error: ConnectFailure }
  /** The height of the page's content in CSS pixels. */
  | { readonly type: 'resize'; readonly height: number };

/** An event of the page that replaces the connect page. It has no session. */
export type RefusedEvent = Extract<ConnectEvent, { readonly type: 'closed' | 'error' | 'resize' }>;

export interface ConnectFailure {
  readonly code: string;
  readonly message: string;
}

export const SOURCE = 'causeway';
/**
 * Name of the parameter in the page's address with the origin of the page that shows it. Further parameters of this name have the origins
 * of the pages around that one.
 */
export const FROM = 'from';
/** Error code for an origin that may not show the page. The page stays open until the user closes it, and states the reason. */
export const UNREGISTERED = 'unregistered';
