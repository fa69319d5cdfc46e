import { expect } from 'chai';
import { findCronFault, nextRun, parseCron } from '../../src/formulas/schedule.ts';

const MINUTE_MS = 60_000;
const AFTER = new Date('2026-11-28T10:07:13Z');
const next = (cron: string, after = AFTER) => nextRun(cron, after)?.toISOString();

describe('a schedule', () => {
  it('reads Quartz expressions, with Sunday as day 1', () => {
    expect(next('0 0/15 * 1/1 * ? *')).to.equal('2026-11-28T10:15:00.000Z');
    expect(next('0 0 1 ? * MON,TUE,WED,THU,FRI *')).to.equal('2026-11-30T01:00:00.000Z');
    expect(next('0 0 12 ? * 1')).to.equal('2026-11-29T12:00:00.000Z');
    expect(next('0 0 12 ? * 2')).to.equal('2026-11-30T12:00:00.000Z');
    expect(next('0 0 12 L * ?')).to.equal('2026-11-30T12:00:00.000Z');
    expect(next('0 0 12 15W 11 ? 2027')).to.equal('2027-11-15T12:00:00.000Z');
    expect(next('0 0 12 LW 1 ?')).to.equal('2027-01-29T12:00:00.000Z');
    expect(next('0 0 12 ? * 6L')).to.equal('2026-12-25T12:00:00.000Z');
    expect(next('0 0 12 ? * fri#3')).to.equal('2026-12-18T12:00:00.000Z');
    expect(next('0 0 0 1 1 ? 2099')).to.equal('2099-01-01T00:00:00.000Z');
  });

  it('reads the days before the last one of a month, and the last day of a week', () => {
    const times = (cron: string, count: number, from = new Date('2027-01-30T00:00:00Z')) => {
      const found: string[] = [];
      for (let after = from; found.length < count; ) {
        const time = nextRun(cron, after);
        if (time === undefined) break;
        found.push(time.toISOString().slice(0, 10));
        after = time;
      }
      return found;
    };
    expect(times('0 0 12 L-3 * ?', 4)).to.deep.equal(['2027-02-25', '2027-03-28', '2027-04-27', '2027-05-28']);
    expect(times('0 0 12 L-3 2 ?', 2)).to.deep.equal(['2027-02-25', '2028-02-26']);
    expect(times('0 0 12 L-28 FEB ? 2027-2030', 9)).to.deep.equal(['2028-02-01']);
    expect(times('0 0 12 L-30 * ? 2027', 9)).to.deep.equal([
      '2027-03-01',
      '2027-05-01',
      '2027-07-01',
      '2027-08-01',
      '2027-10-01',
      '2027-12-01',
    ]);
    // March 28, 2027 is a Sunday.
    expect(times('0 0 12 L-3W 1/2 ? 2027', 2)).to.deep.equal(['2027-03-29', '2027-05-28']);
    expect(times('0 12 L-3 * *', 1)).to.deep.equal(['2027-02-25']);
    expect(times('0 0 12 ? * L', 2)).to.deep.equal(['2027-01-30', '2027-02-06']);
    const fault = (text: string) => findCronFault(text, 15 * MINUTE_MS);
    expect(fault('0 0,55 0,23 L-3 * ?')).to.equal(undefined);
    expect(fault('0 0/5 0 L-3 * ?')).to.equal('fires every 5 minutes; the least is 15 minutes.');
    const form = 'is no Quartz expression of 6 or 7 fields, such as 0 0/15 * * * ?';
    expect(fault('0 0 12 L-31 * ?')).to.equal(`${form}: day of month cannot be L-31.`);
    expect(fault('0 0 12 L-3 * MON')).to.equal(`${form}: with L-3, the day of week must be ?.`);
    expect(fault('0 0 12 L-3,15 * ?')).to.match(/^is no Quartz expression.*L-3,15/);
    expect(fault('0 0 12 L-3 13 ?')).to.match(/^is no Quartz expression/);
    expect(fault('0 0 12 ? * 6#6')).to.match(/nth weekday out of range/);
  });

  it('reads plain cron expressions of 5 fields, with Sunday as day 0 and 7', () => {
    expect(next('0 12 * * 1')).to.equal('2026-11-30T12:00:00.000Z');
    expect(next('0 12 * * 0')).to.equal('2026-11-29T12:00:00.000Z');
    expect(next('0 12 * * 7')).to.equal('2026-11-29T12:00:00.000Z');
    expect(next('*/20 * * * *')).to.equal('2026-11-28T10:20:00.000Z');
  });

  it('reads ranges that pass the end of a day or a week', () => {
    expect(next('0 0 22-2 * * ?', new Date('2026-11-28T23:30:00Z'))).to.equal('2026-11-29T00:00:00.000Z');
    expect(next('0 0 22-2 * * ?', new Date('2026-11-28T02:30:00Z'))).to.equal('2026-11-28T22:00:00.000Z');
    expect(next('0 0 0 ? * FRI-MON', new Date('2026-11-30T12:00:00Z'))).to.equal('2026-12-04T00:00:00.000Z');
  });

  it('ends where no time is left, and where no day is ever meant', () => {
    expect(next('0 0 0 1 1 ? 2020')).to.equal(undefined);
    expect(next('0 0 0 30 2 ?')).to.equal(undefined);
    expect(next('nothing')).to.equal(undefined);
  });

  it('is refused for what is no expression, with the reason', () => {
    const fault = (text: string) => findCronFault(text, 15 * MINUTE_MS);
    const form = 'is no Quartz expression of 6 or 7 fields, such as 0 0/15 * * * ?';
    expect(fault('')).to.equal(`${form}: it has 0 fields.`);
    expect(fault('0 0 * *')).to.equal(`${form}: it has 4 fields.`);
    expect(fault('@daily')).to.equal(`${form}: it has another character.`);
    expect(fault('0 0 0 ? * 0')).to.match(/^is no Quartz expression/);
    expect(fault('60 0 0 ? * 1')).to.equal(`${form}: Invalid value for second: 60.`);
    expect(fault('0 0 0 ? * SUN-FOO')).to.match(/^is no Quartz expression/);
    expect(fault('0 0 0 ? * MON 2030-2027')).to.equal(`${form}: the year cannot be 2030-2027.`);
    expect(fault(`0 0 0 ? * ${'MON,'.repeat(60)}`)).to.equal(`${form}: it has more than 200 characters.`);
  });

  it('is refused where it fires too often', () => {
    const fault = (text: string, leastMinutes = 15) => findCronFault(text, leastMinutes * MINUTE_MS);
    expect(fault('0/30 * * 1/1 * ? *')).to.equal('fires every 30 seconds; the least is 15 minutes.');
    expect(fault('0 * * * * ?')).to.equal('fires every 1 minute; the least is 15 minutes.');
    expect(fault('0 * * * * ?', 1)).to.equal(undefined);
    expect(fault('0 0,59 * * * ?')).to.equal('fires every 1 minute; the least is 15 minutes.');
    expect(fault('0 0/15 * * * ?')).to.equal(undefined);
    expect(fault('0 0/20 * * * ?')).to.equal(undefined);
    expect(fault('*/5 * * * *')).to.equal('fires every 5 minutes; the least is 15 minutes.');
  });

  it('counts the night between two days only where it fires on both', () => {
    const fault = (text: string) => findCronFault(text, 15 * MINUTE_MS);
    expect(fault('0 0,55 0,23 * * ?')).to.equal('fires every 5 minutes; the least is 15 minutes.');
    expect(fault('0 0,55 0,23 ? * MON')).to.equal(undefined);
    expect(fault('0 0,55 0,23 ? * MON,TUE')).to.equal('fires every 5 minutes; the least is 15 minutes.');
  });

  it('is read in a moment, whatever it says', () => {
    const startedAt = performance.now();
    for (const hostile of ['* * * * * *', '0 0 0 29 2 5#5', '0 0 0 31 2,4,6,9,11 ? *', '0 0 0 29 2 ? 2097-2099'])
      parseCron(hostile).nextAfter(AFTER);
    expect(performance.now() - startedAt).to.be.below(500);
  });
});
