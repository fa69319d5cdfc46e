import { expect } from 'chai';
import { FORMULA_LIMITS, TRANSFORMATION_LIMITS } from '../../src/scripts/index.ts';
import { openSandbox } from './setup.ts';

describe('mail of scripts', () => {
  const sandbox = openSandbox();
  after(() => sandbox.close());

  const run = (body: string, limits = FORMULA_LIMITS) =>
    sandbox.one(body, { parameters: [], mutable: [], calls: [{ values: {} }], limits });

  it('is a part of the result, also if the script fails later', async () => {
    expect(await run("notify.email(['a@x.org', 'b@x.org'], 'Line 1\\r\\nBcc: c@x.org', 7); throw('no')")).to.deep.equal(
      {
        kind: 'failed',
        reason: 'no',
        console: [],
        mails: [{ to: 'a@x.org, b@x.org', subject: 'Line 1 Bcc: c@x.org', body: '7' }],
      },
    );
    expect(await run('done(1)')).to.deep.equal({ kind: 'done', value: 1, console: [] });
  });

  it('needs addresses, and has limits', async () => {
    const reasonOf = async (body: string) => Object(await run(body)).reason;
    expect(await reasonOf("notify.email('nobody', '', ''); done()")).to.contain(
      'notify.email needs the address of a receiver',
    );
    expect(await reasonOf("for (let n = 0; n < 21; n++) notify.email('a@x.org', 's', 'b'); done()")).to.contain(
      'A script can send at most 20 mails',
    );
    expect(await reasonOf("notify.email('a@x.org', 's', 'b'.repeat(300000)); done()")).to.contain(
      'at most 262144 characters',
    );
  });

  it('is not for scripts of mappings', async () => {
    const result = await run("notify.email('a@x.org', 's', 'b'); done(1)", TRANSFORMATION_LIMITS);
    expect(Object(result).reason).to.contain('Only scripts of formulas can send mail');
  });
});
