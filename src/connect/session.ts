import { AppError } from '../errors.ts';
import type { Redactor } from '../redaction.ts';
import type { SessionError, SessionRow } from './session-store.ts';

type SessionStatus = SessionRow['status'];

/** A session as the page of its URL sees it. */
export interface PageSession extends SessionRow {
  readonly organizationId: number;
  /** Key of the session, the last segment of the page's URL. It is a secret that is not stored. */
  readonly key: string;
}

/** Returns the current status, because the expiry of a session is not written. */
export function statusOf(
  { status, expiresAt }: Pick<SessionRow, 'status' | 'expiresAt'>,
  nowMs: number,
): SessionStatus {
  return status === 'open' && expiresAt.getTime() <= nowMs ? 'expired' : status;
}

const ENDED: Readonly<Record<Exclude<SessionStatus, 'open'>, string>> = {
  completed: 'This connect session was completed: an account is connected.',
  failed: 'This connect session was ended.',
  expired: 'This connect session has expired.',
};

/**
 * Rejects a request because the session has ended.
 * @throws AppError CONFLICT
 */
export function refuseEnded(status: Exclude<SessionStatus, 'open'>): never {
  throw new AppError('CONFLICT', `${ENDED[status]} A session connects one account. Create a new session.`);
}

/**
 * Asserts that the session is open.
 * @throws AppError CONFLICT for a session that has ended
 */
export function assertOpen(session: Pick<SessionRow, 'status' | 'expiresAt'>, nowMs: number): void {
  const status = statusOf(session, nowMs);
  if (status !== 'open') refuseEnded(status);
}

/**
 * Returns the URL that the browser goes to from an ended session, with the outcome in its query; undefined if it
 * stays.
 */
export function returnUrlOf(session: SessionRow, nowMs: number): string | undefined {
  const { id, redirectUrl, instanceId } = session;
  const status = statusOf(session, nowMs);
  if (redirectUrl === null || status === 'open') return undefined;
  const url = new URL(redirectUrl);
  if (status === 'completed') url.searchParams.set('instanceId', String(instanceId));
  else url.searchParams.set('error', status === 'expired' ? 'expired' : 'cancelled');
  url.searchParams.set('sessionId', String(id));
  return url.href;
}

/** Returns the error without the secrets of the redactor. */
export function toSessionError({ code, message, providerMessage }: AppError, { redact }: Redactor): SessionError {
  return {
    code,
    message: redact(message),
    ...(providerMessage !== undefined && { providerMessage: redact(providerMessage) }),
  };
}

/** Returns the status of a session that could not be ended. If nothing ended it, it has expired. */
export function endedStatus(session: Pick<SessionRow, 'status'> | undefined): Exclude<SessionStatus, 'open'> {
  return session === undefined || session.status === 'open' ? 'expired' : session.status;
}

export const CANCELLED: SessionError = {
  code: 'CANCELLED',
  message: 'The connect session was ended before an account was connected.',
};
