import type { Platform } from '../platform.ts';
import { createOrigins } from './origins.ts';
import { createConnectPage, type PageNeighbours } from './page.ts';
import { createSessions, type SessionNeighbours } from './sessions.ts';

export interface ConnectNeighbours
  extends Omit<PageNeighbours & SessionNeighbours, 'origins' | 'proxies' | 'instances'> {
  readonly proxies: PageNeighbours['proxies'] & SessionNeighbours['proxies'];
  readonly instances: PageNeighbours['instances'] & SessionNeighbours['instances'];
}

export type Connect = ReturnType<typeof composeConnect>;

/** Connect sessions: what servers make of them, what their page does, and where it may be shown. */
export function composeConnect(platform: Platform, neighbours: ConnectNeighbours) {
  const origins = createOrigins(platform);
  const parts = { ...neighbours, origins };
  return { origins, sessions: createSessions(platform, parts), page: createConnectPage(platform, parts) };
}
