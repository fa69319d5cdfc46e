import { AppError } from '../errors.ts';
import type { SessionRow } from './session-store.ts';

export type SessionStatus = SessionRow['status'];

/** What went wrong, fit for whoever connects and for the server that asked for it. */
export interface SessionError {
  /** One of the API's, or `CANCELLED`: somebody gave up. */
  readonly code: string;
  readonly message: string;
  readonly providerMessage?: string;
}

/** A session as the page of its URL knows it. */
export interface PageSession extends SessionRow {
  readonly organizationId: number;
  /** The end of the URL of its page: kept by whoever has that, and nowhere else. */
  readonly key: string;
}

/** Nobody has written yet that its time is over. */
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

/** @throws AppError CONFLICT */
export function refuseEnded(status: Exclude<SessionStatus, 'open'>): never {
  throw new AppError('CONFLICT', `${ENDED[status]} A session is for one account: ask for a new one.`);
}

/** @throws AppError CONFLICT for one that has ended */
export function assertOpen(session: Pick<SessionRow, 'status' | 'expiresAt'>, nowMs: number): void {
  const status = statusOf(session, nowMs);
  if (status !== 'open') refuseEnded(status);
}

/** Where the browser goes from an ended session, with what came of it in the query; undefined where it stays. */
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

export function toSessionError({ code, message, providerMessage }: AppError): SessionError {
  return { code, message, ...(providerMessage !== undefined && { providerMessage }) };
}

export const CANCELLED: SessionError = {
  code: 'CANCELLED',
  message: 'The connect session was ended before an account was connected.',
};
