import { expect } from 'chai';
import { isAppError } from '../../src/errors.ts';
import { ExactNumber } from '../../src/numbers/exact-json.ts';
import { assertMembers } from '../../src/resources/record.ts';

function messageOf(record: unknown): string {
  try {
    assertMembers(record);
    return '';
  } catch (error) {
    if (isAppError(error, 'PROVIDER_PROTOCOL')) return error.message;
    throw error;
  }
}

const members = (count: number, value: unknown = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, value]));

describe('the members of a record of a provider', () => {
  const TOO_MANY = 'The provider returned a record with more than 100000 members.';

  it('are at most 100,000, those inside others counted', () => {
    const record: Record<string, unknown> = members(99_999, new ExactNumber('1e999'));
    expect(messageOf({ data: record })).to.equal('');
    record.last = 0;
    expect(messageOf(record)).to.equal('');
    expect(messageOf({ data: record })).to.equal(TOO_MANY);
    record.more = 0;
    expect(messageOf(record)).to.equal(TOO_MANY);
    expect(messageOf({ data: Array.from({ length: 100_000 }, () => 0) })).to.equal(TOO_MANY);
    const row = members(99);
    expect(messageOf({ data: Array.from({ length: 1_000 }, () => row) })).to.equal(TOO_MANY);
    expect(messageOf({ data: Array.from({ length: 999 }, () => row) })).to.equal('');
    expect(messageOf('text')).to.equal('');
  });

  it('are not looked at beyond that', () => {
    let looks = 0;
    const watched = new Proxy(
      {},
      {
        ownKeys: () => {
          looks++;
          return [];
        },
      },
    );
    expect(messageOf([...Array.from({ length: 100_000 }, () => 0), watched])).to.equal(TOO_MANY);
    expect(messageOf([members(100_001), watched])).to.equal(TOO_MANY);
    expect(looks).to.equal(0);
    expect(messageOf([watched])).to.equal('');
    expect(looks).to.equal(1);
  });
});
