import { tryRewriting } from '/work/main/test/mappings/rewriting.ts';

describe('x', function () {
  this.timeout(0);
  it('y', () => {
    console.log(tryRewriting(3000, 77));
  });
});
