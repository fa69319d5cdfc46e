/** Instants as providers write them ↔ ours, which are text in UTC. What is none stays as it is. */

/** Any offset → UTC, with every digit of the fraction, and at least so many. */
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

/** `places`: the decimals of a second that the number counts: 3 for milliseconds. Numbers may come as text. */
export function readEpoch(places: 0 | 3): (native: unknown) => unknown {
  const unitMs = 10 ** (3 - places);
  return (native) => {
    const isWritten = typeof native === 'number' || (typeof native === 'string' && /^-?\d+$/.test(native));
    return (isWritten ? printInstant(Number(native) * unitMs) : undefined) ?? native;
  };
}

/** Cut down to what the provider can hold. */
export function writeEpoch(places: 0 | 3): (value: unknown) => unknown {
  const unitMs = 10 ** (3 - places);
  return (value) => {
    const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    return Number.isNaN(ms) ? value : Math.floor(ms / unitMs);
  };
}

/** @throws RangeError when there is no such zone */
export function readLocalTime(zone: string): (text: string) => string {
  const offsetAt = createOffsets(zone);
  return (text) => {
    const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d+))?$/.exec(text);
    if (match === null) return text;
    const shown = Date.parse(`${match[1]}T${match[2]}Z`);
    // The offsets around the moment: where they differ the clocks are being changed, and one of the two is that of the moment.
    const offsets = [offsetAt(shown - DAY_MS), offsetAt(shown + DAY_MS)];
    const moments = offsets.map((offset) => shown - offset);
    const found = moments.filter((moment) => moment + offsetAt(moment) === shown);
    // An hour that the clocks leave out: as if they had not been changed yet.
    return printSecond(found.length > 0 ? Math.min(...found) : (moments[0] ?? shown), match[3] ?? '') ?? text;
  };
}

export function writeLocalTime(zone: string): (text: string) => string {
  const offsetAt = createOffsets(zone);
  return (text) => {
    const moment = Date.parse(text);
    if (Number.isNaN(moment)) return text;
    return new Date(moment + offsetAt(moment)).toISOString().slice(0, 19).replace('T', ' ');
  };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Milliseconds that the clocks of a zone are ahead of UTC at a moment. @throws RangeError when there is no such zone */
export function createOffsets(zone: string): (moment: number) => number {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  return (moment) => {
    const name = format.formatToParts(moment).find(({ type }) => type === 'timeZoneName')?.value;
    const [, sign, hours = '0', minutes = '0', seconds = '0'] =
      /([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(name ?? '') ?? [];
    const ahead = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
    return sign === '-' ? -ahead : ahead;
  };
}

/** Undefined for what is no moment of a year of four digits. */
function printInstant(ms: number): string | undefined {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : undefined;
}

function printSecond(ms: number, fraction: string): string | undefined {
  const text = printInstant(ms);
  return text && `${text.slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`;
}
