/** Conversions between the instants of providers and ours, which are text in UTC. Anything that is no instant stays as it is. */

/**
 * Returns a function that converts an instant with any offset to UTC. It keeps every digit of the fraction and adds zeros up to `digits`.
 */
export function readInUtc(digits: number): (text: string) => string {
  return (text) => {
    if (digits === 0 && IN_UTC.test(text)) return text;
    const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d+))?(Z|[+-]\d{2}:?\d{2})$/.exec(text);
    if (match === null) return text;
    const [, day, time, fraction = '', offset = ''] = match;
    const second = Date.parse(`${day}T${time}${offset.replace(/(\d{2})(\d{2})$/, '$1:$2')}`);
    return printSecond(second, fraction.padEnd(digits, '0')) ?? text;
  };
}

const IN_UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/**
 * Returns a function that converts seconds (`places` 0) or milliseconds (`places` 3) since 1970 to an instant. It accepts digits as text.
 */
export function readEpoch(decimals: 0 | 3): (native: unknown) => unknown {
  const unitMs = 10 ** (3 - decimals);
  return (native) => {
    const isWritten = typeof native === 'number' || (typeof native === 'string' && /^-?\d+$/.test(native));
    return (isWritten ? printInstant(Number(native) * unitMs) : undefined) ?? native;
  };
}

/** Returns a function that converts an instant to whole seconds (`places` 0) or milliseconds (`places` 3) since 1970. It drops the rest. */
export function writeEpoch(decimals: 0 | 3): (value: unknown) => unknown {
  const unitMs = 10 ** (3 - decimals);
  return (value) => {
    const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    return Number.isNaN(ms) ? value : Math.floor(ms / unitMs);
  };
}

/**
 * Returns a function that converts `yyyy-MM-dd HH:mm:ss` in a time zone to an instant.
 * @param zone an IANA name
 * @throws RangeError for an unknown zone
 */
export function readLocalTime(zone: string): (text: string) => string {
  const offsetAt = createOffsets(zone);
  return (text) => {
    const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d+))?$/.exec(text);
    if (match === null) return text;
    const shown = Date.parse(`${match[1]}T${match[2]}Z`);
    // Where the two offsets differ, the clocks are being changed, and one of them holds at the moment.
    const offsets = [offsetAt(shown - DAY_MS), offsetAt(shown + DAY_MS)];
    const moments = offsets.map((offset) => shown - offset);
    const found = moments.filter((moment) => moment + offsetAt(moment) === shown);
    // An hour that the clocks skip is read with the offset before the change.
    return printSecond(found.length > 0 ? Math.min(...found) : (moments[0] ?? shown), match[3] ?? '') ?? text;
  };
}

/**
 * Returns a function that converts an instant to `yyyy-MM-dd HH:mm:ss` in a time zone.
 * @param zone an IANA name
 * @throws RangeError for an unknown zone
 */
export function writeLocalTime(zone: string): (text: string) => string {
  const offsetAt = createOffsets(zone);
  return (text) => {
    const moment = Date.parse(text);
    if (Number.isNaN(moment)) return text;
    return new Date(moment + offsetAt(moment)).toISOString().slice(0, 19).replace('T', ' ');
  };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Maximum number of moments per zone whose offset is remembered. */
const MOST_OFFSETS = 2000;

/**
 * Returns a function that computes by how many milliseconds the clocks of a zone are ahead of UTC at a moment.
 * @throws RangeError for an unknown zone
 */
export function createOffsets(zone: string): (moment: number) => number {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  const findOffset = (moment: number) => {
    const name = format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')?.value;
    const [, sign, hours = '0', minutes = '0', seconds = '0'] =
      /([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(name ?? '') ?? [];
    const ahead = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
    return sign === '-' ? -ahead : ahead;
  };
  // The formatter is slow, and the same times are converted again and again.
  const known = new Map<number, number>();
  return (moment) => {
    const remembered = known.get(moment);
    if (remembered !== undefined) return remembered;
    const found = findOffset(moment);
    if (known.size === MOST_OFFSETS) known.clear();
    known.set(moment, found);
    return found;
  };
}

/** Returns undefined for a moment outside the years 0 to 9999. */
function printInstant(ms: number): string | undefined {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
}

function printSecond(ms: number, fraction: string): string | undefined {
  const text = printInstant(ms);
  return text && `${text.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`;
}
