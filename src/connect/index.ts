import type { Platform } from '../platform.ts';
import { createOrigins } from './origins.ts';
import { createConnectPage, type PageNeighbours } from './page.ts';
import { createSessions, type SessionNeighbours } from './sessions.ts';

export type ConnectRoom = ReturnType<typeof composeConnect>;

/** Connect sessions: what servers make of them, what their page does, and where it may be shown. */
export function composeConnect(platform: Platform, neighbours: Omit<PageNeighbours & SessionNeighbours, 'origins'>) {
  const origins = createOrigins(platform);
  const parts = { ...neighbours, origins };
  return { origins, sessions: createSessions(platform, parts), page: createConnectPage(platform, parts) };
}
