import { expect } from 'chai';
import { matchesCodes, parseStatusCodes } from '../../src/formulas/status-codes.ts';

describe('status codes of a step', () => {
  it('are codes and ranges, separated by commas', () => {
    expect(parseStatusCodes('200')).to.deep.equal([[200, 200]]);
    expect(parseStatusCodes('401-405,500')).to.deep.equal([
      [401, 405],
      [500, 500],
    ]);
    expect(parseStatusCodes('429, 500 - 503')).to.deep.equal([
      [429, 429],
      [500, 503],
    ]);
  });

  it('are nothing else', () => {
    for (const wrong of [
      '',
      '401-,400',
      '401-400',
      '-400',
      '4xx',
      '20',
      '2000',
      '200,',
      ',200',
      '200;201',
      '600',
      '099',
    ])
      expect(parseStatusCodes(wrong), wrong).to.equal(undefined);
    expect(parseStatusCodes(`${'200,'.repeat(200)}200`)).to.equal(undefined);
  });

  it('match the codes that they name', () => {
    expect([400, 401, 403, 405, 406, 500].map((code) => matchesCodes('401-405,500', code))).to.deep.equal([
      false,
      true,
      true,
      true,
      false,
      true,
    ]);
    expect(matchesCodes('401-,400', 400)).to.equal(false);
  });
});
