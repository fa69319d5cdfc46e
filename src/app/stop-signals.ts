import type { Clock } from '../clock.ts';

/** npm passes on a signal that the whole group got: the same one comes twice. */
const SAME_SIGNAL_MS = 1_000;

interface StopSignals {
  readonly process: Pick<NodeJS.Process, 'on' | 'exit'>;
  readonly clock: Pick<Clock, 'steady'>;
}

/**
 * Listens for SIGTERM and SIGINT.
 * @returns a signal that aborts at the first of them; its reason is the name. Another one more than a second later ends the process at once
 * with exit code 1, because the operator does not want to wait.
 */
export function listenForStop({ process, clock }: StopSignals): AbortSignal {
  const stop = new AbortController();
  let stoppedAtMs: number | undefined;
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      stoppedAtMs ??= clock.steady();
      stop.abort(name);
      if (clock.steady() - stoppedAtMs > SAME_SIGNAL_MS) process.exit(1);
    });
  }
  return stop.signal;
}
