import { expect } from 'chai';
import { findInDocument, findInSource } from '../scripts/check-prose.ts';

describe('the check of prose', () => {
  it('finds a phrase of a document, with its line', () => {
    expect(findInDocument('# Pages\n\nThe most is 200.\n')).to.deep.equal([
      { line: 3, found: 'The most is', instead: 'the maximum is' },
    ]);
  });

  it('passes over code in a document', () => {
    expect(findInDocument('```sh\necho and all is well\n```\n`the most is`\n')).to.deep.equal([]);
  });

  it('finds a phrase of a doc comment, and none in the code beside it', () => {
    const source = "const text = 'what came of it';\n/** What came of a run. */\nexport const outcome = text;\n";
    expect(findInSource(source)).to.deep.equal([{ line: 2, found: 'What came of', instead: 'the outcome of' }]);
  });
});
