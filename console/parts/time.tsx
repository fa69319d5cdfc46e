import { useEffect, useState } from 'preact/hooks';

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });
const STEP_MS = 10_000;

/** Shows a time relative to now. Its title has the exact time. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), STEP_MS);
    return () => clearInterval(timer);
  }, []);
  if (at === null || at === undefined) return <span class="soft">–</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact.format(date)}>
      {sayRelative(date.getTime() - now)}
    </time>
  );
}

/** Formats a time relative to now, such as `in 5 minutes`. @param ms milliseconds from now; negative in the past */
export function sayRelative(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [unit, size] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? ['second', 1];
  return Math.abs(seconds) < 5 ? 'now' : relative.format(Math.trunc(seconds / size), unit);
}

/** Formats a duration for people. */
export function sayDuration(ms: number): string {
  if (ms < 10 && !Number.isInteger(ms)) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
