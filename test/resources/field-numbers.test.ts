import { expect } from 'chai';
import { ExactNumber } from '../../src/numbers/exact-json.ts';
import { DECIMAL_TEXT } from '../../src/numbers/number-value.ts';
import { faultOfNumber, numberReader } from '../../src/resources/record.ts';
import type { FieldSpec } from '../../src/where/index.ts';

const exact = (text: string) => new ExactNumber(text);

describe('numbers of a field', () => {
  const READ: readonly (readonly [FieldSpec, readonly (readonly [native: unknown, printed: string])[]])[] = [
    [
      { type: 'integer' },
      [
        [1, '1'],
        ['1', '1'],
        ['9007199254740993', '9007199254740993'],
        [exact('9007199254740993'), '9007199254740993'],
        [null, 'null'],
        ['n/a', '"n/a"'],
        ['', '""'],
      ],
    ],
    [
      { type: 'number', format: DECIMAL_TEXT },
      [
        [0, '"0"'],
        [-0, '"0"'],
        [1.5, '"1.5"'],
        [1e21, '"1000000000000000000000"'],
        ['1.50', '"1.5"'],
        [exact('0.1234567890123456789'), '"0.1234567890123456789"'],
        [exact('1e500'), '"1e500"'],
        [null, 'null'],
      ],
    ],
    [
      { type: 'string' },
      [
        ['a', '"a"'],
        [7, '"7"'],
        [exact('9007199254740993'), '"9007199254740993"'],
        [null, 'null'],
      ],
    ],
  ];
  for (const [field, values] of READ) {
    it(`have one JSON type on every row: ${JSON.stringify(field)}`, () => {
      const read = numberReader(field);
      for (const [native, printed] of values) expect(JSON.stringify(read?.(native))).to.equal(printed);
    });
  }

  const int16: FieldSpec = { type: 'integer', range: ['-32768', '32767'] };
  const FAULTS: readonly (readonly [FieldSpec, unknown, string | undefined])[] = [
    [int16, 32767, undefined],
    [int16, -32768, undefined],
    [int16, 32768, 'must be from -32768 to 32767.'],
    [int16, '-32769', 'must be from -32768 to 32767.'],
    [int16, 1.5, 'is of type integer: expected a whole number.'],
    [int16, exact('1.00000000000000000001'), 'is of type integer: expected a whole number.'],
    [int16, exact('1e399'), 'must be from -32768 to 32767.'],
    [int16, exact('1e400'), 'is a number of more than 400 digits.'],
    [int16, 'many', undefined],
    [int16, null, undefined],
    [{ type: 'integer' }, exact('9007199254740993'), undefined],
    [{ type: 'number' }, exact('1.2345678901234567890'), undefined],
    [{ type: 'number' }, exact('1e309'), 'must be from -1.7976931348623157e+308 to 1.7976931348623157e+308.'],
    [{ type: 'number' }, exact('1e-390'), 'must be 0, or at least 5e-324 away from it.'],
    [{ type: 'number', format: DECIMAL_TEXT }, exact('1e309'), undefined],
    [{ type: 'string' }, exact('1e400'), undefined],
  ];
  for (const [field, value, fault] of FAULTS) {
    it(`of ${JSON.stringify(field)} are judged: ${JSON.stringify(value)} ${fault ?? 'is right'}`, () => {
      expect(faultOfNumber(field, value)).to.equal(fault);
    });
  }
});
