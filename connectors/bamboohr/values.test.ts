import { expect } from 'chai';
import { ExactNumber } from '#connector';
import {
  readAmount,
  readAmounts,
  readBoolean,
  readDate,
  readInstant,
  readInteger,
  readList,
  readOption,
  writeAmount,
  writeText,
} from './values.ts';

describe('values of BambooHR', () => {
  it('are null where BambooHR writes that there is none', () => {
    expect(['', '0000-00-00', null].map(readDate)).to.deep.equal([null, null, null]);
    expect([readOption(''), readInteger(''), readAmount(''), readBoolean(''), readInstant('')]).to.deep.equal([
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  it('are the day of a time, amounts by name, and several options as a list', () => {
    expect(readDate('2026-05-29 10:28:31')).to.equal('2026-05-29');
    expect(readAmounts({ '2026-04-10': '1', '2026-04-11': '0.5' })).to.deep.equal({
      '2026-04-10': 1,
      '2026-04-11': 0.5,
    });
    expect([['a', 'b'], 'a, b', '', null].map(readList)).to.deep.equal([['a', 'b'], ['a, b'], null, null]);
  });

  it('are whole numbers, written as number or as text', () => {
    expect([7, '7', '-7', '007', '12345678901234567890', 'x'].map(readInteger)).to.deep.equal([
      7,
      7,
      -7,
      7,
      '12345678901234567890',
      'x',
    ]);
  });

  it('are amounts of money without their currency, exact to the last digit', () => {
    const amounts = ['27000.00', '27000.00 USD', { value: '0.10', currency: 'EUR' }, 15.05, '12345678901234567.89 USD'];
    expect(amounts.map(readAmount)).to.deep.equal([27000, 27000, 0.1, 15.05, '12345678901234567.89']);
    expect(readAmount({ currency: 'EUR' })).to.equal(null);
    const exact = new ExactNumber('12345678901234567.89');
    expect([exact, { value: exact, currency: 'EUR' }].map(readAmount)).to.deep.equal([exact, exact]);
    expect([exact, 1e21].map(writeAmount)).to.deep.equal(['12345678901234567.89', '1000000000000000000000']);
  });

  it('are yes and no in every spelling', () => {
    expect(['yes', 'no', 'true', 'false', 1, 0, '1', '0', true, false, null].map(readBoolean)).to.deep.equal([
      true,
      false,
      true,
      false,
      true,
      false,
      true,
      false,
      true,
      false,
      null,
    ]);
  });

  it('are instants, whose zone has no colon', () => {
    expect(readInstant('2025-02-11T22:30:07+0000')).to.equal('2025-02-11T22:30:07.000Z');
    expect(readInstant('2025-02-11T22:30:07-0730')).to.equal('2025-02-12T06:00:07.000Z');
  });

  it('are cleared by empty text', () => {
    expect([writeText(null), writeText('x'), writeAmount(null), writeAmount(12.5)]).to.deep.equal([
      '',
      'x',
      '',
      '12.5',
    ]);
  });
});
