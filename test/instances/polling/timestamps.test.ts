import { ZoneId } from '@js-joda/core';
import '@js-joda/timezone';
import { expect } from 'chai';
import { timestampReader } from '../../../src/instances/polling/timestamps.ts';

const BERLIN = ZoneId.of('Europe/Berlin');

const isoOf = (value: unknown, format?: string, zone = BERLIN) => {
  const ms = timestampReader(format, zone)(value);
  return ms === undefined ? undefined : new Date(ms).toISOString();
};

describe('times of records', () => {
  const ISO: readonly (readonly [text: string, expected: string])[] = [
    ['2030-01-02T03:04:05Z', '2030-01-02T03:04:05.000Z'],
    ['2030-01-02T03:04Z', '2030-01-02T03:04:00.000Z'],
    ['2030-01-02T03:04:05.678901Z', '2030-01-02T03:04:05.678Z'],
    ['2030-01-02T03:04:05.678+05:30', '2030-01-01T21:34:05.678Z'],
    ['2030-01-02T03:04:05.000+0000', '2030-01-02T03:04:05.000Z'],
    ['2030-01-02T03:04:05-08', '2030-01-02T11:04:05.000Z'],
    // Those that name no zone are in that of the configuration.
    ['2030-01-02T03:04:05', '2030-01-02T02:04:05.000Z'],
    ['2030-07-02T03:04', '2030-07-02T01:04:00.000Z'],
    ['2030-07-02', '2030-07-01T22:00:00.000Z'],
  ];
  it('are read in the forms of ISO 8601', () => {
    for (const [text, expected] of ISO) expect(isoOf(text), text).to.equal(expected);
  });

  it('are read as numbers since 1970, in seconds, milliseconds and microseconds', () => {
    for (const value of [1_900_000_000, 1_900_000_000_000, 1_900_000_000_000_000, '1900000000', '1900000000000000'])
      expect(isoOf(value), String(value)).to.equal('2030-03-17T17:46:40.000Z');
    expect(isoOf(1_900_000_000.25)).to.equal('2030-03-17T17:46:40.250Z');
  });

  const PATTERNS: readonly (readonly [pattern: string, text: string, expected: string])[] = [
    ['MM/dd/yyyy', '7/4/2030', '2030-07-03T22:00:00.000Z'],
    ['dd.MM.yy HH:mm', '04.07.30 12:30', '2030-07-04T10:30:00.000Z'],
    ['EEE, dd MMM yyyy HH:mm:ss zzz', 'Thu, 04 Jul 2030 12:30:00 GMT', '2030-07-04T12:30:00.000Z'],
    ['dd MMM yyyy HH:mm:ss Z', '04 JUL 2030 12:30:00 +0200', '2030-07-04T10:30:00.000Z'],
    ['MMM d, yyyy h:mm:ss a', 'Jul 4, 2030 1:30:00 pm', '2030-07-04T11:30:00.000Z'],
    ['yyyy-MM-dd HH:mm:ss.SSS', '2030-07-04 12:30:00.123456', '2030-07-04T10:30:00.123Z'],
    ['yyyy-MM-dd HH:mm:ss.S', '2030-07-04 12:30:00.5', '2030-07-04T10:30:00.500Z'],
    ["yyyy-MM-dd'T'HH:mm:ssX", '2030-07-04T12:30:00Z', '2030-07-04T12:30:00.000Z'],
    // A pattern says what digits are.
    ['yyyyMMddHHmmss', '20300704123000', '2030-07-04T10:30:00.000Z'],
    ['yyyyMMddHHmmssSSS', '20300704123000123', '2030-07-04T10:30:00.123Z'],
    // What is quoted as text is a zone nevertheless, where it is ISO 8601.
    ["yyyy-MM-dd'T'HH:mm:ss'Z'", '2030-07-04T12:30:00Z', '2030-07-04T12:30:00.000Z'],
    // Providers write numbers, whatever the configuration says.
    ['yyyy-MM-dd', '1900000000', '2030-03-17T17:46:40.000Z'],
  ];
  it('are read by a pattern', () => {
    for (const [pattern, text, expected] of PATTERNS) expect(isoOf(text, pattern), pattern).to.equal(expected);
  });

  it('have the later time in an hour that summer skips, and the earlier one in an hour that there is twice', () => {
    expect(isoOf('2030-03-31T02:30:00')).to.equal('2030-03-31T01:30:00.000Z');
    expect(isoOf('2030-10-27T02:30:00')).to.equal('2030-10-27T00:30:00.000Z');
  });

  it('are none where nothing tells a time', () => {
    const values = [undefined, null, '', 'yesterday', true, {}, [], 0, -5, Number.NaN, 1e18, '12', '2030-13-01'];
    for (const value of [...values, '2030-02-30T00:00:00', '2030-01-01T25:00:00Z'])
      expect(isoOf(value, 'dd.MM.yyyy'), JSON.stringify(value)).to.equal(undefined);
  });

  it('refuse what is no pattern', () => {
    expect(() => timestampReader('yyyy-MM-ddTHH', BERLIN)).to.throw("'yyyy-MM-ddTHH' is not a Java date pattern: 'T'");
    expect(() => timestampReader("yyyy'", BERLIN)).to.throw('is not a Java date pattern');
  });
});
