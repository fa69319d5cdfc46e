/** The moments between which a process may die: before the intent is written, after it, and so on. */
export type RefreshStep = 'intending' | 'intended' | 'answered' | 'committed';

export interface RefreshTiming {
  /** How long the one who refreshes has it for itself. */
  readonly leaseMs: number;
  /** Of the token request; shorter than the lease, so that in good order nobody else begins before it ends. */
  readonly requestMs: number;
  /** How long a caller waits for a refresh, its own or another's. */
  readonly waitMs: number;
  /** Time between two looks at the database while another process refreshes, should its announcement be lost. */
  readonly pollMs: number;
  /** How long granted tokens are kept at hand while the database does not take them. */
  readonly commitMs: number;
}

export const REFRESH_TIMING: RefreshTiming = {
  leaseMs: 30_000,
  requestMs: 20_000,
  waitMs: 25_000,
  pollMs: 500,
  commitMs: 600_000,
};
