import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { failed, openSandbox } from './setup.ts';

const TIMED_OUT = failed('Script execution timed out after 50 ms');
const OUT_OF_MEMORY = failed('Script execution exceeded 16 MB of memory');

describe('the sandbox of scripts, with a record of 8 MB', () => {
  const sandbox = openSandbox();
  after(() => sandbox.close());

  const MOST = 8 * 2 ** 20;
  const run = (record: unknown, body: string) =>
    sandbox.one(body, {
      calls: [{ values: { originalObject: record, transformedObject: record, fromVendor: true } }],
    });
  const RECORDS: Readonly<Record<string, unknown>> = {
    'one long text': { text: 'x'.repeat(MOST - 100) },
    'a text of three bytes a character': { text: '漢'.repeat(MOST / 3 - 100) },
    'a text that one character widens': { text: `漢${'x'.repeat(MOST - 100)}` },
    'a text that JSON escapes': { text: '\u0001'.repeat(MOST / 6 - 100) },
    'tens of thousands of members': Object.fromEntries(
      Array.from({ length: 90_000 }, (_, index) => [`m${index}`, 'v'.repeat(70)]),
    ),
    'tens of thousands of objects': {
      list: Array.from({ length: 19_000 }, (_, id) => ({ id, text: 'x'.repeat(380), is: true, no: null })),
    },
  };

  for (const [what, record] of Object.entries(RECORDS))
    it(`passes ${what} through`, async () => {
      const result = await run(record, 'transformedObject.added = 1; done(transformedObject);');
      expect(result).to.have.property('kind', 'done');
      expect('value' in result && isDeepStrictEqual(result.value, { ...Object(record), added: 1 })).to.equal(true);
    });

  it('gives the script its own time and memory beside the record', async () => {
    const record = RECORDS['one long text'];
    expect(await run(record, 'while (true);')).to.deep.equal(TIMED_OUT);
    expect(await run(record, 'new Uint8Array(6e7);')).to.deep.equal(OUT_OF_MEMORY);
    expect(await run(record, "done({ text: 'y'.repeat(8e6) });")).to.have.nested.property('value.text.length', 8e6);
  });

  it('refuses a larger one without a run of the script', async () => {
    const tooLarge = failed('originalObject has more than 8388608 bytes of JSON, the maximum for a script');
    for (const text of ['x'.repeat(MOST + 1), 'ü'.repeat(MOST / 2 + 1)])
      expect(await run({ text }, 'console.log(1); done(1);')).to.deep.equal(tooLarge);
  });
});
