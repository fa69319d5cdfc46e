import { expect } from 'chai';
import { parseDateTemplate } from '../../../src/instances/polling/date-template.ts';

const AT_MS = Date.parse('2001-07-04T19:08:56.235Z');
const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1000, 60_000, 3_600_000, 86_400_000];

const render = (text: string, { zone = 'UTC', atMs = AT_MS } = {}) => parseDateTemplate(text, zone).render(atMs);

/**
 * "Examples" of the documentation of java.text.SimpleDateFormat, at 2001-07-04 12:08:56 in the Pacific time zone of the U.S.; the two whose
 * zone is a word are told apart below.
 */
const DOCUMENTED: readonly (readonly [pattern: string, text: string])[] = [
  ["EEE, MMM d, ''yy", "Wed, Jul 4, '01"],
  ['h:mm a', '12:08 PM'],
  ['yyyyy.MMMMM.dd GGG hh:mm aaa', '02001.July.04 AD 12:08 PM'],
  ['EEE, d MMM yyyy HH:mm:ss Z', 'Wed, 4 Jul 2001 12:08:56 -0700'],
  ['yyMMddHHmmssZ', '010704120856-0700'],
  ["yyyy-MM-dd'T'HH:mm:ss.SSSZ", '2001-07-04T12:08:56.235-0700'],
  ["yyyy-MM-dd'T'HH:mm:ss.SSSXXX", '2001-07-04T12:08:56.235-07:00'],
  ["YYYY-'W'ww-u", '2001-W27-3'],
];

/** Printed by `new SimpleDateFormat(pattern, Locale.US)` of OpenJDK 17.0.15 for the same moment, in GMT. */
const PRINTED: readonly (readonly [pattern: string, text: string])[] = [
  ["yyyy.MM.dd G 'at' HH:mm:ss z", '2001.07.04 AD at 19:08:56 GMT'],
  ['K:mm a, z', '7:08 PM, GMT'],
  ["hh 'o''clock' a", "07 o'clock PM"],
  ['X', 'Z'],
  ['XX', 'Z'],
  ['XXX', 'Z'],
  ['ZZZZ', '+0000'],
  ['S', '235'],
  ['E', 'Wed'],
  ['EEEE', 'Wednesday'],
  ['EEEEEE', 'Wednesday'],
  ['LLLL', 'July'],
  ['D', '185'],
  ['F', '1'],
  ['w', '27'],
  ['W', '1'],
  ['kk', '19'],
  ['y', '2001'],
  ['yyy', '2001'],
  ['MM/dd/yyyy', '07/04/2001'],
  ["''", "'"],
];

describe('placeholders of times', () => {
  it('print patterns as the documentation of Java has them', () => {
    for (const [pattern, text] of DOCUMENTED)
      expect(render(`\${dateTimeZone:{America/Los_Angeles}:${pattern}}`), pattern).to.equal(text);
  });

  it('print patterns as Java prints them', () => {
    for (const [pattern, text] of PRINTED) expect(render(`\${gmtDate:${pattern}}`), pattern).to.equal(text);
  });

  it('have a fraction of a second where Java has a number of milliseconds', () => {
    const atMs = Date.parse('2001-07-04T19:08:56.005Z');
    expect(['S', 'SSS', 'SSSSSS'].map((pattern) => render(`\${gmtDate:s.${pattern}}`, { atMs }))).to.deep.equal([
      '56.005',
      '56.005',
      '56.005000',
    ]);
  });

  it('stand for a date in the zone of the configuration, in GMT, in a zone of their own', () => {
    const pattern = 'yyyy-MM-dd HH:mm XXX';
    expect(render(`\${date:${pattern}}`, { zone: 'Asia/Kolkata' })).to.equal('2001-07-05 00:38 +05:30');
    expect(render(`\${gmtDate:${pattern}}`, { zone: 'Asia/Kolkata' })).to.equal('2001-07-04 19:08 Z');
    expect(render(`\${dateTimeZone:{+02:00}:${pattern}}`, { zone: 'Asia/Kolkata' })).to.equal(
      '2001-07-04 21:08 +02:00',
    );
  });

  it('know summer from winter', () => {
    const local = (atMs: number) => render('${date:yyyy-MM-dd HH:mm Z}', { zone: 'Europe/Berlin', atMs });
    expect([
      local(Date.parse('2030-03-31T00:59:00Z')),
      local(Date.parse('2030-03-31T01:00:00Z')),
      local(Date.parse('2030-10-27T00:30:00Z')),
      local(Date.parse('2030-10-27T01:30:00Z')),
    ]).to.deep.equal([
      '2030-03-31 01:59 +0100',
      '2030-03-31 03:00 +0200',
      '2030-10-27 02:30 +0200',
      '2030-10-27 02:30 +0100',
    ]);
  });

  it('stand for seconds, milliseconds and microseconds since 1970', () => {
    expect(render('${epoch} ${epoch:s} ${epoch:ms} ${epoch:us}')).to.equal(
      '994273736235 994273736 994273736235 994273736235000',
    );
  });

  it('leave the text around them as it is, and take quotes and braces inside them', () => {
    const text = "where=a>='${gmtDate:yyyy-MM-dd'T'HH:mm:ss'Z'}' and b = '$5 {x}' and c < ${gmtDate:'}'yyyy'{'}";
    expect(render(text)).to.equal("where=a>='2001-07-04T19:08:56Z' and b = '$5 {x}' and c < }2001{");
    expect(parseDateTemplate('where=a = 1', 'UTC').granularityMs).to.equal(undefined);
  });

  it('say what their coarsest part cannot tell apart', () => {
    const granularityOf = (text: string, zone = 'UTC') => parseDateTemplate(text, zone).granularityMs;
    expect(granularityOf('${epoch:s}')).to.equal(SECOND_MS);
    expect(granularityOf('${epoch:us}')).to.equal(1);
    expect(granularityOf("${date:yyyy-MM-dd'T'HH:mm:ss.SSS}")).to.equal(1);
    expect(granularityOf("${date:yyyy-MM-dd'T'HH:mm'S'}")).to.equal(MINUTE_MS);
    expect(granularityOf('${date:yyyyMMddHH}')).to.equal(HOUR_MS);
    expect(granularityOf('${date:yyyy-MM-dd} ${epoch:s}')).to.equal(DAY_MS);
    expect(granularityOf("${date:YYYY-'W'ww}")).to.equal(7 * DAY_MS);
    expect(granularityOf('${date:yyyy-MM}')).to.equal(31 * DAY_MS);
    expect(granularityOf('${date:yyyy}')).to.equal(366 * DAY_MS);
  });

  it('cannot tell an hour from the next in autumn, unless they show their offset', () => {
    const granularityOf = (text: string) => parseDateTemplate(text, 'Europe/Berlin').granularityMs;
    expect(granularityOf('${date:yyyy-MM-dd HH:mm:ss}')).to.equal(SECOND_MS + HOUR_MS);
    expect(granularityOf('${date:yyyy-MM-dd HH:mm:ssXXX}')).to.equal(SECOND_MS);
    expect(granularityOf('${gmtDate:yyyy-MM-dd HH:mm:ss}')).to.equal(SECOND_MS);
  });

  const FAULTY: readonly (readonly [text: string, says: RegExp])[] = [
    ['${date:yyyy', /^'\$\{date:yyyy' is not closed by '}'\.$/],
    ["${date:yyyy'}", /is not closed/],
    ['${today}', /^'\$\{today}' is not a placeholder\. Use \$\{date:PATTERN}, /],
    ['${date}', /is not a placeholder/],
    ['${date:}', /is not a placeholder/],
    ['${}', /is not a placeholder/],
    ['${epoch:h}', /^'\$\{epoch:h}' has an unknown unit\. Use s, ms or us\.$/],
    ['${epoch:constructor}', /has an unknown unit/],
    ['${date:yyyy-MM-ddTHH:mm}', /'T' is not a pattern letter\. Write text in single quotes\.$/],
    ['${date:Q}', /'Q' is not a pattern letter/],
    ['${dateTimeZone:{Europe/Atlantis}:yyyy}', /has the unknown time zone 'Europe\/Atlantis'\.$/],
    ['${dateTimeZone:Europe/Berlin:yyyy}', /is not a placeholder/],
    [
      '${dateTimeZone:{Europe/Berlin}:HH z}',
      /names the time zone by a word, which changes with daylight saving time\. Use Z or XXX\.$/,
    ],
  ];
  for (const [text, says] of FAULTY) {
    it(`refuse ${text}`, () => {
      expect(() => parseDateTemplate(text, 'UTC')).to.throw(Error, says);
    });
  }
});
