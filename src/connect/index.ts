import type { Platform } from '../platform.ts';
import { createBrandings } from './branding.ts';
import { createOrigins } from './origins.ts';
import { createConnectPage, type PageNeighbours } from './page.ts';
import { createSessions, type SessionNeighbours } from './sessions.ts';

export type ConnectRoom = ReturnType<typeof composeConnect>;

/** Connect sessions: what servers make of them, what their page does, where it may be shown, and how it looks. */
export function composeConnect(
  platform: Platform,
  neighbours: Omit<PageNeighbours & SessionNeighbours, 'origins' | 'brandings'>,
) {
  const origins = createOrigins(platform);
  const brandings = createBrandings(platform, { origins });
  const parts = { ...neighbours, origins, brandings };
  return { origins, brandings, sessions: createSessions(platform, parts), page: createConnectPage(platform, parts) };
}
