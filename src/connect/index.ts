import type { Platform } from '../platform.ts';
import { createBrandings } from './branding.ts';
import { createOrigins } from './origins.ts';
import { createConnectPage, type PageNeighbours } from './page.ts';
import { createSessions, type SessionNeighbours } from './sessions.ts';

export type ConnectRoom = ReturnType<typeof composeConnect>;

/** Builds the service for connect sessions: their management, their pages, the registered origins and the branding. */
export function composeConnect(
  platform: Platform,
  neighbours: Omit<PageNeighbours & SessionNeighbours, 'origins' | 'brandings'>,
) {
  const origins = createOrigins(platform);
  const brandings = createBrandings(platform, { origins });
  const parts = { ...neighbours, origins, brandings };
  return { origins, brandings, sessions: createSessions(platform, parts), page: createConnectPage(platform, parts) };
}
