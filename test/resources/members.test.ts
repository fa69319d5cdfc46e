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
    const { m0, ...others } = members(100_000);
    expect(messageOf({ m0, ...others })).to.equal('');
    expect(messageOf({ m0, ...others, more: 0 })).to.equal(TOO_MANY);
    expect(messageOf({ data: others })).to.equal('');
    expect(messageOf({ data: { m0, ...others } })).to.equal(TOO_MANY);
    expect(messageOf({ data: Array.from({ length: 100_000 }, () => 0) })).to.equal(TOO_MANY);
    expect(messageOf({ data: Array.from({ length: 1_000 }, () => members(99)) })).to.equal(TOO_MANY);
    expect(messageOf({ data: Array.from({ length: 999 }, () => members(99)) })).to.equal('');
    expect(messageOf(members(100_000, new ExactNumber('1e999')))).to.equal('');
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
