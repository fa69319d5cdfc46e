/** The maximum wait: a day. A provider that still needs it will request it again. */
const MAX_WAIT_MS = 24 * 3_600_000;

const DAY = '(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?';
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const TIME = '\\d\\d:\\d\\d:\\d\\d';

/** Date.parse makes a date of nearly any text with a digit in it, and one of its own zone where none is named. */
const UTC_DATES: readonly RegExp[] = [
  // RFC 9110, 5.6.7: IMF-fixdate, and the form of RFC 850.
  new RegExp(`^${DAY}, \\d\\d(?: ${MONTH} \\d{4}|-${MONTH}-\\d\\d) ${TIME} GMT$`),
  // Not in the RFC, but what some write.
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
];
/** RFC 9110, 5.6.7: the form of asctime, which is UTC without saying so. */
const ASCTIME = new RegExp(`^${DAY} ${MONTH} [ \\d]\\d ${TIME} \\d{4}$`);

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3): seconds or a date.
 * @returns how long from now, at most a day, 0 for what is past; undefined when there is none or it says nothing
 */
export function readRetryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(text)) return boundWaitMs(Number(text) * 1000);
  const dateMs = readDateMs(text);
  return dateMs === undefined ? undefined : boundWaitMs(Math.max(0, dateMs - nowMs));
}

/** Limits a requested wait to a day. Undefined for a value that is no wait. */
export function boundWaitMs(ms: number | undefined): number | undefined {
  return typeof ms === 'number' && ms >= 0 ? Math.min(ms, MAX_WAIT_MS) : undefined;
}

function readDateMs(text: string): number | undefined {
  const utc = UTC_DATES.some((form) => form.test(text)) ? text : ASCTIME.test(text) ? `${text} GMT` : '';
  const dateMs = Date.parse(utc);
  return Number.isNaN(dateMs) ? undefined : dateMs;
}
