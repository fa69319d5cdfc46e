import { expect } from 'chai';
import fc from 'fast-check';
import { type Codec, codec, decimalsOfCurrency, ExactNumber } from '#connector';

/** Any second of years that everybody can write. */
const SECONDS = fc.integer({
  min: Date.parse('0001-01-02T00:00:00Z') / 1000,
  max: Date.parse('9999-12-30T00:00:00Z') / 1000,
});
/** Since clocks have whole minutes of offset, and as far as the rules of zones are known. */
const RECENT = fc.integer({
  min: Date.parse('1975-01-01T00:00:00Z') / 1000,
  max: Date.parse('2035-01-01T00:00:00Z') / 1000,
});
const DECIMALS = fc
  .tuple(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), fc.integer({ min: 0, max: 6 }))
  .map(([digits, places]) => placePoint(digits, places));
const ANYTHING = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.constant({}), fc.constant([]));

const ALL: Readonly<Record<string, Codec>> = {
  instant: codec.instant(),
  epochSeconds: codec.epochSeconds,
  epochMilliseconds: codec.epochMilliseconds,
  localTime: codec.localTime('Europe/Berlin'),
  day: codec.day,
  integer: codec.integer,
  decimal: codec.decimal,
  money: codec.money,
  minorUnits: codec.minorUnits(),
  flag: codec.flag('yes', 'no'),
  list: codec.list(';'),
  blank: codec.blank(),
  each: codec.each(codec.integer),
};

describe('codecs', () => {
  for (const [name, { read, write }] of Object.entries(ALL)) {
    it(`leave null, and whatever they do not know, without an error: ${name}`, () => {
      expect(read(null)).to.equal(null);
      fc.assert(
        fc.property(ANYTHING, (value) => {
          read(value);
          write(value);
        }),
      );
      const odd = { nothing: 'of this kind' };
      expect([read(odd), write(odd)]).to.deep.equal([name === 'money' ? null : odd, odd]);
    });
  }

  it('read instants with any offset and keep the digits of the fraction', () => {
    const { read } = codec.instant();
    fc.assert(
      fc.property(
        SECONDS,
        fc.integer({ min: -840, max: 840 }),
        fc.stringMatching(/^\d{0,9}$/),
        (second, ahead, digits) => {
          const fraction = digits === '' ? '' : `.${digits}`;
          const shown = new Date((second + ahead * 60) * 1000).toISOString();
          fc.pre(/^\d{4}-/.test(shown));
          const offset = `${ahead < 0 ? '-' : '+'}${pad(Math.trunc(Math.abs(ahead) / 60))}:${pad(Math.abs(ahead) % 60)}`;
          const expected = `${new Date(second * 1000).toISOString().slice(0, 19)}${fraction}Z`;
          for (const zone of [offset, offset.replace(':', '')]) {
            expect(read(`${shown.slice(0, 19)}${fraction}${zone}`)).to.equal(expected);
          }
          expect(read(expected)).to.equal(expected);
        },
      ),
    );
    expect(codec.instant(3).read('2024-01-01T00:00:00+0000')).to.equal('2024-01-01T00:00:00.000Z');
    expect(read('2024-01-01T08:30+02:00')).to.equal('2024-01-01T06:30:00Z');
    for (const none of ['never', '2024-13-01T00:00:00Z', '2024-01-01', '2024-01-01T00:00:00'])
      expect(read(none)).to.equal(none);
  });

  it('read and write the seconds and milliseconds since 1970', () => {
    fc.assert(
      fc.property(SECONDS, fc.integer({ min: 0, max: 999 }), (second, ms) => {
        const instant = new Date(second * 1000 + ms).toISOString();
        expect(codec.epochMilliseconds.read(second * 1000 + ms)).to.equal(instant);
        expect(codec.epochMilliseconds.read(String(second * 1000 + ms))).to.equal(instant);
        expect(codec.epochMilliseconds.write(instant)).to.equal(second * 1000 + ms);
        expect(codec.epochSeconds.write(instant)).to.equal(second);
        expect(codec.epochSeconds.write(codec.epochSeconds.read(second))).to.equal(second);
      }),
    );
    expect([1e18, '', 'x', true].map(codec.epochSeconds.read)).to.deep.equal([1e18, '', 'x', true]);
  });

  it('read and write what the clocks of a zone show', () => {
    for (const zone of [
      ...['UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia'],
    ]) {
      const { read, write } = codec.localTime(zone);
      fc.assert(
        fc.property(RECENT, (second) => {
          const instant = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
          const shown = write(instant);
          const expected = new Date(second * 1000).toLocaleString('sv-SE', { timeZone: zone });
          expect(shown).to.equal(expected);
          // The clocks may show a time twice; the first one is meant.
          const found = Date.parse(String(read(shown))) / 1000;
          expect(found).to.be.at.most(second);
          expect(write(read(shown))).to.equal(shown);
        }),
      );
    }
  });

  it('know the hours that the clocks show twice or leave out', () => {
    const { read } = codec.localTime('Europe/Berlin');
    expect(read('2024-10-27 02:30:00')).to.equal('2024-10-27T00:30:00Z');
    expect(read('2024-03-31 02:30:00')).to.equal('2024-03-31T01:30:00Z');
    expect(read('2024-07-01 12:00:00.25')).to.equal('2024-07-01T10:00:00.25Z');
    expect(codec.localTime().read('2024-07-01 12:00:00')).to.equal('2024-07-01T12:00:00Z');
    expect(() => codec.localTime('Nowhere/Land')).to.throw(RangeError);
  });

  it('read days without a time behind them, and none for zeros', () => {
    fc.assert(
      fc.property(SECONDS, (second) => {
        const [day = '', time = ''] = new Date(second * 1000).toISOString().split('T');
        for (const written of [day, `${day} ${time.slice(0, 8)}`, `${day}T${time}`]) {
          expect(codec.day.read(written)).to.equal(day);
        }
      }),
    );
    expect(['0000-00-00', '0000-00-00 00:00:00', 'soon'].map(codec.day.read)).to.deep.equal([null, null, 'soon']);
  });

  it('read whole numbers from text', () => {
    fc.assert(
      fc.property(fc.integer(), (number) => {
        expect([number, `${number}`].map(codec.integer.read)).to.deep.equal([number, number]);
      }),
    );
    expect(['007', '12345678901234567890', '1.5', 'x'].map(codec.integer.read)).to.deep.equal([
      7,
      '12345678901234567890',
      '1.5',
      'x',
    ]);
  });

  it('keep all digits of decimals and of money', () => {
    fc.assert(
      fc.property(DECIMALS, (text) => {
        for (const { read, write } of [codec.decimal, codec.money]) expect(write(read(text))).to.equal(write(text));
        const written = codec.money.write(text);
        for (const money of [`${text} USD`, { value: text, currency: 'EUR' }, { value: new ExactNumber(text) }]) {
          expect(codec.money.write(codec.money.read(money))).to.equal(written);
        }
      }),
    );
    expect(['12.50', '-0.1', 'INF', 1e21].map(codec.decimal.read)).to.deep.equal([12.5, -0.1, 'INF', 1e21]);
    expect(codec.decimal.read('9007199254740993')).to.deep.equal(new ExactNumber('9007199254740993'));
    const amounts = [
      '27000.00',
      '27000.00 USD',
      { value: '0.10', currency: 'EUR' },
      15.05,
      { currency: 'EUR' },
      'free',
    ];
    expect(amounts.map(codec.money.read)).to.deep.equal([27000, 27000, 0.1, 15.05, null, 'free']);
    expect([new ExactNumber('12345678901234567.89'), 1e21].map(codec.money.write)).to.deep.equal([
      '12345678901234567.89',
      '1000000000000000000000',
    ]);
  });

  it('of minor units have the decimals of ISO 4217', () => {
    const decimals = ['EUR', 'usd', 'jpy', 'ISK', 'MGA', 'KWD', 'LYD', 'CLF', 'unknown'].map(decimalsOfCurrency);
    expect(decimals).to.deep.equal([2, 2, 0, 0, 2, 3, 3, 4, 2]);
  });

  it('shift the point of money in its smallest unit, and back', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
        fc.integer({ min: 0, max: 4 }),
        (units, places) => {
          const { read, write } = codec.minorUnits(places);
          expect(codec.decimal.write(write(read(String(units))))).to.equal(String(units));
          expect(codec.decimal.write(read(String(units)))).to.equal(codec.decimal.write(placePoint(units, places)));
        },
      ),
    );
    const { read, write } = codec.minorUnits();
    expect([1999, -5, 0, 'x'].map(read)).to.deep.equal([19.99, -0.05, 0, 'x']);
    expect([19.99, 0.1, null].map(write)).to.deep.equal([1999, 10, null]);
  });

  it('know a boolean by two words', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 2 }),
        (flag, words) => {
          const { read, write } = codec.flag(words[0] ?? '', words[1] ?? '');
          expect(read(write(flag))).to.equal(flag);
        },
      ),
    );
    const { read, write } = codec.flag('yes', 'no');
    expect(['yes', 'no', 'true', 'false', 1, 0, '1', '0', true, false, 'perhaps', 2].map(read)).to.deep.equal([
      ...[true, false, true, false, true, false, true, false, true, false],
      'perhaps',
      2,
    ]);
    expect([true, false, null].map(write)).to.deep.equal(['yes', 'no', null]);
    expect(codec.flag(1, 2).write(false)).to.equal(2);
  });

  it('take lists apart and join them', () => {
    const item = fc.stringMatching(/^[^;]+$/);
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const { read, write } = codec.list(';');
        expect(read(write(items))).to.deep.equal(items);
      }),
    );
    expect([['a', 'b'], 'a, b', null].map(codec.list().read)).to.deep.equal([['a', 'b'], ['a, b'], null]);
    expect(codec.list().write(['a'])).to.deep.equal(['a']);
  });

  it('read empty text as none, and write it for none', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.integer()), (value) => {
        const { read, write } = codec.blank();
        expect(write(read(value))).to.equal(value);
      }),
    );
    expect(['', '7', null].map(codec.blank(codec.integer).read)).to.deep.equal([null, 7, null]);
    expect([null, 7].map(codec.blank(codec.decimal).write)).to.deep.equal(['', '7']);
  });

  it('convert the members of lists and objects', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.dictionary(fc.string(), fc.integer()), (list, object) => {
        const { read, write } = codec.each({
          read: (value) => [value],
          write: (value) => (Array.isArray(value) ? value[0] : value),
        });
        expect(write(read(list))).to.deep.equal(list);
        expect(write(read(object))).to.deep.equal({ ...object });
      }),
    );
    expect(codec.each(codec.money).read({ '2026-04-10': '1', '2026-04-11': '0.5' })).to.deep.equal({
      '2026-04-10': 1,
      '2026-04-11': 0.5,
    });
    expect(codec.each(codec.day).read(['2020-01-01', '0000-00-00'])).to.deep.equal(['2020-01-01', null]);
  });
});

function pad(number: number): string {
  return String(number).padStart(2, '0');
}

function placePoint(digits: bigint, places: number): string {
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
  const point = text.length - places;
  return `${digits < 0n ? '-' : ''}${text.slice(0, point)}${places === 0 ? '' : `.${text.slice(point)}`}`;
}
