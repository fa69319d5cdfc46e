import { type Clock, SYSTEM_CLOCK } from '../../clock.ts';
import { createOffsets } from '../kit/times.ts';

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

/** The clocks where a provider is, which prints times with the offset of the moment. */
export interface TimeZone {
  /** Milliseconds ahead of UTC. */
  readonly offsetAt: (ms: number) => number;
  /** Prints an instant, with so many digits of a second: `2014-09-18T12:56:01-07:00`. */
  readonly print: (ms: number, digits?: 0 | 3) => string;
}

const HOUR_MS = 3_600_000;

/** @throws RangeError when there is no such zone */
export function createTimeZone(name: string): TimeZone {
  const findOffset = createOffsets(name);
  // By the hour: clocks change at the beginning of one. To work it out takes longer than everything else of an answer.
  const known = new Map<number, number>();
  const offsetAt = (ms: number) => {
    const hour = Math.floor(ms / HOUR_MS);
    const offset = known.get(hour) ?? findOffset(hour * HOUR_MS);
    known.set(hour, offset);
    return offset;
  };
  const print: TimeZone['print'] = (ms, digits = 0) => {
    const offset = offsetAt(ms);
    const local = new Date(ms + offset).toISOString().slice(0, digits === 0 ? 19 : 23);
    return local + (offset < 0 ? '-' : '+') + new Date(Math.abs(offset)).toISOString().slice(11, 16);
  };
  return { offsetAt, print };
}
