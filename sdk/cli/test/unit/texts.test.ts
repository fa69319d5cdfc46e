import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import picocolors from 'picocolors';
import { csvLine } from '../../src/output.js';
import { tableText } from '../../src/table.js';
import { pointAt, printable, printableJson, redact, shortened } from '../../src/texts.js';
import { timeOf } from '../../src/times.js';

const PLAIN = picocolors.createColors(false);

describe('texts', () => {
  it('points at a part of a filter', () => {
    assert.deepEqual(pointAt("a = 1 AND bc = 'x'", 10, 2), ["a = 1 AND bc = 'x'", '          ^^']);
    assert.deepEqual(pointAt('a =', 3, 0), ['a =', '   ^']);
  });

  it('points below characters that are two columns wide, or shown as more than one', () => {
    assert.deepEqual(pointAt("名 = '学' AND x = 1", 12, 1), ["名 = '学' AND x = 1", '              ^']);
    assert.deepEqual(pointAt('a\t= 1 AND x = 1', 10, 1), ['a\\t= 1 AND x = 1', '           ^']);
  });

  it('shows the line of a filter that the fault is on, and marks no more than that', () => {
    assert.deepEqual(pointAt('a = 1\n  AND bb = 2\nAND c = 3', 12, 2), ['  AND bb = 2', '      ^^']);
    assert.deepEqual(pointAt('a = 1 AND\nb = 2', 6, 9), ['a = 1 AND', '      ^^^']);
  });

  it('lets no text command the terminal', () => {
    assert.equal(printable('a\u001b[2Jb\u009bc\r\n\u202ed'), 'a\\u001b[2Jb\\u009bc\\r\\n\\u202ed');
    const value = { text: 'a\u001b\u009b\u202e\u2028\nb', nested: ['\u007f'] };
    assert.doesNotMatch(printableJson(value, 2).replaceAll('\n', ''), /[\p{Cc}\u202e\u2028]/u);
    assert.deepEqual(JSON.parse(printableJson(value, 2)), value);
  });

  it('cuts by columns, and no character in two', () => {
    assert.equal(shortened('abcdef', 6), 'abcdef');
    assert.equal(shortened('abcdefg', 6), 'abcde…');
    assert.equal(shortened('学学学', 5), '学学…');
    assert.equal(shortened('👩‍🚀👩‍🚀👩‍🚀', 5), '👩‍🚀👩‍🚀…');
  });

  it('takes every secret out', () => {
    assert.equal(redact('s3cret and t0ken, s3cret', ['s3cret', 't0ken', '']), '******** and ********, ********');
  });

  it('reads times, and how long ago they were', () => {
    const now = Date.parse('2026-02-01T12:00:00Z');
    assert.equal(timeOf('90m', now), '2026-02-01T10:30:00.000Z');
    assert.equal(timeOf('2026-01-31', now), '2026-01-31T00:00:00.000Z');
    assert.throws(() => timeOf('yesterday', now), /is not a time/);
    assert.throws(() => timeOf('12', now), /is not a time/);
  });
});

describe('a table', () => {
  const rows = [
    { id: 1, name: 'Zoë', city: null },
    { id: 20, name: '学', city: 'Kyoto\u001b[31m' },
  ];
  const columns = {
    id: ({ id }: (typeof rows)[number]) => id,
    name: ({ name }: (typeof rows)[number]) => name,
    city: ({ city }: (typeof rows)[number]) => city,
  };

  it('has its columns below each other', () => {
    const { text, leftOut } = tableText(rows, columns, PLAIN);
    assert.equal(text, 'id  name  city\n1   Zoë\n20  学    Kyoto\\u001b[31m');
    assert.deepEqual(leftOut, []);
  });

  it('leaves out what a terminal has no room for, and says so', () => {
    const { text, leftOut } = tableText(rows, columns, PLAIN, 12);
    assert.equal(text, 'id  name\n1   Zoë\n20  学');
    assert.deepEqual(leftOut, ['city']);
  });
});

describe('CSV', () => {
  it('quotes what would be read as something else', () => {
    assert.equal(
      csvLine(['a', 'b,c', 'say "x"', 'two\nlines', 'two\rlines']),
      'a,"b,c","say ""x""","two\nlines","two\rlines"\r\n',
    );
  });

  it('tells no value from the empty text, and shows values as they are', () => {
    assert.equal(csvLine([null, undefined, '', 0, false, true, { a: [1] }]), ',,"",0,false,true,"{""a"":[1]}"\r\n');
  });
});
