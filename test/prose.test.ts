import { expect } from 'chai';
import { findInDocument, findInSource, hintsInDocument, hintsInSource } from '../scripts/check-prose.ts';

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

  it('finds a phrase that goes over the end of a line', () => {
    const source = '/**\n * Runs a job and returns what\n * came of it.\n */\nexport const job = 1;\n';
    expect(findInSource(source)).to.deep.equal([{ line: 2, found: 'what came of', instead: 'the outcome of' }]);
    expect(findInDocument('Runs a job and returns what\ncame of it.\n')).to.have.length(1);
  });

  for (const opening of ['Of', 'The most']) {
    it(`finds a doc comment that opens with '${opening}'`, () => {
      expect(findInSource(`/** ${opening} accounts. */\n`)).to.have.length(1);
      expect(findInSource(`/**\n * ${opening} accounts.\n */\n`)).to.have.length(1);
      expect(findInSource(`/** Counts. ${opening} accounts. */\n`)).to.deep.equal([]);
    });
  }

  it('finds the same phrases in documents and doc comments', () => {
    const text = 'The subscriber is told at once.';
    expect(findInSource(`/** ${text} */\n`).map(({ found }) => found)).to.deep.equal(['is told']);
    expect(findInDocument(`${text}\n`).map(({ found }) => found)).to.deep.equal(['is told']);
  });

  it('gives a hint for a long sentence, with the line in which it begins', () => {
    const long = 'word '.repeat(41).trim();
    const hint = 'a sentence of 41 words';
    expect(hintsInDocument(`Short.\n\n${long}.\n`)).to.deep.equal([{ line: 3, hint }]);
    expect(hintsInSource(`/**\n * Short.\n * ${long}.\n */\n`)).to.deep.equal([{ line: 3, hint }]);
  });

  it('gives a hint for a sentence with many passive verbs', () => {
    const passive = 'A job is stored, is claimed by a process and is not retried.';
    expect(hintsInDocument(`${passive}\n`)).to.deep.equal([{ line: 1, hint: 'a sentence with 3 passive verbs' }]);
  });

  it('gives no hint for tables, headings, code, and sentences that are short each', () => {
    const long = 'word '.repeat(41).trim();
    const items = '- a list item of eight words or so\n'.repeat(8);
    const sentences = 'This sentence has six words. '.repeat(10);
    for (const text of [`| ${long} |`, `# ${long}`, `\`\`\`\n${long}\n\`\`\``, items, sentences]) {
      expect(hintsInDocument(`${text}\n`)).to.deep.equal([]);
    }
  });
});
