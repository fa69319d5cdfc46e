import { type Clock, SYSTEM_CLOCK } from '../../clock.ts';
import { createOffsets } from '../kit/times.ts';

/** The time of a simulated provider, which tests can move forward. */
export interface MovableClock extends Clock {
  readonly move: (ms: number) => void;
}

/** Creates a clock ahead of another one. Waits use the other clock, so moving the time does not end them. */
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

/** The time zone of a provider that prints times with their offset. */
export interface TimeZone {
  /** Returns the milliseconds by which the zone is ahead of UTC at an instant. */
  readonly offsetAt: (ms: number) => number;
  /** Prints an instant with this many digits of a second: `2014-09-18T12:56:01-07:00`. */
  readonly print: (ms: number, digits?: 0 | 3) => string;
}

const HOUR_MS = 3_600_000;

/**
 * Creates a time zone.
 * @param name an IANA name
 * @throws RangeError for an unknown zone
 */
export function createTimeZone(name: string): TimeZone {
  const findOffset = createOffsets(name);
  // Offsets are cached by the hour, because clocks change at the beginning of one. Computing one takes longer than the rest of a response.
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
