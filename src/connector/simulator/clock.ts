import { type Clock, SYSTEM_CLOCK } from '../../clock.ts';

/** The time of a simulated provider, which tests can move forward. */
export interface MovableClock extends Clock {
  readonly move: (ms: number) => void;
}

/** Waits are those of the clock below: moving the time does not end them. */
export function createMovableClock(clock: Clock = SYSTEM_CLOCK): MovableClock {
  let aheadMs = 0;
  return {
    now: () => clock.now() + aheadMs,
    steady: () => clock.steady() + aheadMs,
    after: clock.after,
    move: (ms) => {
      aheadMs += ms;
    },
  };
}
