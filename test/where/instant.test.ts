import { expect } from 'chai';
import { compareInstants, isDate, readDateTime, readInstant } from '../../src/where/instant.ts';

describe('dates', () => {
  it('exist or do not', () => {
    for (const day of ['2026-01-31', '2024-02-29', '2000-02-29', '0000-02-29', '0001-01-01', '9999-12-31']) {
      expect(isDate(day), day).to.equal(true);
    }
    for (const day of [
      ...['2026-02-30', '2026-02-29', '1900-02-29', '2026-04-31', '2026-13-01', '2026-00-10', '2026-01-00'],
      ...['0000-00-00'],
      ...['2026-1-1', '26-01-01', '2026/01/01', '2026-01-01 ', ' 2026-01-01', '2026-01-1x', '+026-01-01', ''],
      ...['today', '２０２６-01-01'],
    ]) {
      expect(isDate(day), day).to.equal(false);
    }
  });

  it('are counted as the calendar of JavaScript does, from year 0 to 9999', () => {
    const first = Date.parse('0000-01-01T00:00:00Z');
    for (let day = 0; day < 3_652_425; day += 97) {
      const start = new Date(first + day * 86_400_000);
      expect(readInstant(start.toISOString().slice(0, 10))?.epochMs).to.equal(start.getTime());
    }
  });
});

describe('date-times', () => {
  for (const [written, canonical] of [
    ['2026-01-31', '2026-01-31T00:00:00Z'],
    ['2026-01-31T08:30', '2026-01-31T08:30:00Z'],
    ['2026-01-31T08:30Z', '2026-01-31T08:30:00Z'],
    ['2026-01-31T08:30:15', '2026-01-31T08:30:15Z'],
    ['2026-01-31 08:30:15', '2026-01-31T08:30:15Z'],
    ['2026-01-31t08:30:15z', '2026-01-31T08:30:15Z'],
    ['2026-01-31T08:30:15.5Z', '2026-01-31T08:30:15.5Z'],
    ['2026-01-31T08:30:15.500', '2026-01-31T08:30:15.5Z'],
    ['2026-01-31T08:30:15.123456789Z', '2026-01-31T08:30:15.123456789Z'],
    ['2026-01-31T08:30:15.1234567899999Z', '2026-01-31T08:30:15.123456789Z'],
    ['2026-01-31T08:30:15.000000001Z', '2026-01-31T08:30:15.000000001Z'],
    ['2026-01-31T00:30:00+02:00', '2026-01-30T22:30:00Z'],
    ['2026-01-31T23:30:00-0730', '2026-02-01T07:00:00Z'],
    ['2026-01-31T23:30:00-07', '2026-02-01T06:30:00Z'],
    ['2026-01-31T08:30:00.25+00:00', '2026-01-31T08:30:00.25Z'],
    ['2026-01-31T08:30:00 +01:00', '2026-01-31T07:30:00Z'],
    ['1969-12-31T23:59:59.999999999Z', '1969-12-31T23:59:59.999999999Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59.999999999Z'],
    ['0000-01-01T00:00:00+01:00', undefined],
    ['9999-12-31T23:59:59-01:00', undefined],
    ['2026-02-30T00:00:00Z', undefined],
    ['2026-01-31T24:00:00Z', undefined],
    ['2026-01-31T23:60:00Z', undefined],
    ['2026-01-31T23:59:60Z', undefined],
    ['2026-01-31T08:30:00+19:00', undefined],
    ['2026-01-31T08:30:00+01:60', undefined],
    ['2026-01-31T08:30.5Z', undefined],
    ['2026-01-31T08Z', undefined],
    ['2026-01-31T08:30:1Z', undefined],
    ['2026-01-31T08:30:15.Z', undefined],
    ['2026-01-31T08:30:15ZZ', undefined],
    ['2026-01-31X08:30:15Z', undefined],
    ['20260131T083015Z', undefined],
    ['1769848200', undefined],
    ['', undefined],
  ] as const) {
    it(`reads '${written}'${canonical === undefined ? ' as nothing' : ''}`, () => {
      expect(readDateTime(written)?.text).to.equal(canonical);
    });
  }

  it('compare to the nanosecond, on either side of 1970', () => {
    const sorted = [
      ...['1969-12-31T23:59:59.999999998Z', '1969-12-31T23:59:59.999999999Z', '1970-01-01T00:00:00Z'],
      ...['1970-01-01T00:00:00.000000001Z', '1970-01-01T00:00:00.001Z', '1970-01-01T02:00:00+01:00'],
    ];
    const read = (text: string) => readInstant(text) ?? { epochMs: Number.NaN, nanos: 0 };
    expect([...sorted].reverse().sort((a, b) => compareInstants(read(a), read(b)))).to.deep.equal(sorted);
  });

  it('of a row may lie outside the years that a literal can have', () => {
    const late = readInstant('9999-12-31T23:59:59-01:00');
    const end = readInstant('9999-12-31T23:59:59Z');
    expect(late && end && compareInstants(late, end)).to.equal(3_600_000);
  });
});
