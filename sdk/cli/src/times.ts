import { UsageError } from './failures.js';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Parses a time in ISO 8601, or an age such as `2h`, and returns it in UTC.
 * @throws UsageError for any other text
 */
export function timeOf(text: string, now: number): string {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms =
    count === ''
      ? /^\d{4}-\d{2}-\d{2}/.test(text)
        ? Date.parse(text)
        : Number.NaN
      : now - Number(count) * (UNIT_MS[unit] ?? 0);
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new UsageError(`'${text}' is not a time. Use 2026-02-01, 2026-02-01T09:30:00Z, or an age such as 30m, 2h, 7d.`);
}
