import { expect } from 'chai';
import { countFailures } from '../../src/formulas/notices/failure-streak.ts';

const failed = (count: number) => new Array<'failed'>(count).fill('failed');

describe('failures in a row', () => {
  it('are warned of at 50, and deactivate at 101, each once', () => {
    expect(countFailures(0, failed(49))).to.deep.equal({ failures: 49, isWarned: false, isDeactivated: false });
    expect(countFailures(49, failed(1))).to.deep.equal({ failures: 50, isWarned: true, isDeactivated: false });
    expect(countFailures(50, failed(50))).to.deep.equal({ failures: 100, isWarned: false, isDeactivated: false });
    expect(countFailures(100, failed(1))).to.deep.equal({ failures: 101, isWarned: false, isDeactivated: true });
    expect(countFailures(101, failed(5))).to.deep.equal({ failures: 106, isWarned: false, isDeactivated: false });
    expect(countFailures(0, failed(200))).to.deep.equal({ failures: 200, isWarned: true, isDeactivated: true });
  });

  it('end with a success', () => {
    expect(countFailures(99, [...failed(1), 'recovered', ...failed(2)])).to.include({
      failures: 2,
      isDeactivated: false,
    });
  });
});
