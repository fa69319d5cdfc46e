import { expect } from 'chai';
import {
  findInDocument,
  findInSource,
  findInStrictSource,
  hintsInDocument,
  hintsInSource,
} from '../scripts/check-prose.ts';

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

  for (const comment of [
    'In this turn.',
    'By the name of a field',
    'Without an order. SOQL knows no star.',
    'The same for programs.',
  ]) {
    it(`finds '${comment}' above an export, and nowhere else`, () => {
      const [opening] = /^(?:The same|\w+)/.exec(comment) ?? [];
      expect(findInSource(`/** ${comment} */\nexport const a = 1;\n`).map(({ found }) => found)).to.deep.equal([
        opening,
      ]);
      expect(findInSource(`const b = 1;\n/**\n * ${comment}\n */\nexport const a = 1;\n`)).to.have.length(1);
      expect(findInSource(`/** ${comment} */\nconst a = 1;\nexport const b = a;\n`)).to.deep.equal([]);
    });
  }

  it('passes over an opening that leads to a sentence', () => {
    const comments = ['In a transaction, nothing is sent.', 'Without a name: returns all.', 'Returns all. In order.'];
    for (const comment of comments)
      expect(findInSource(`/** ${comment} */\nexport const a = 1;\n`), comment).to.deep.equal([]);
  });

  for (const [comment, found] of [
    ['In this turn.', 'In'],
    ['What a reference shows of its record.', 'What'],
    ['How texts compare.', 'How'],
    ['Nobody else.', 'Nobody'],
    ['It has no times and no etag.', 'It'],
    ['Shown with its kind.', 'Shown with'],
    ['Compared as a number by some services.', 'Compared as'],
    ['@throws Fault 404', '@throws'],
  ] as const) {
    it(`finds '${comment}' above anything in strict sources, and not elsewhere`, () => {
      const source = `interface A {\n  /** ${comment} */\n  readonly a: string;\n}\n`;
      expect(findInStrictSource(source)).to.deep.equal([{ line: 2, found, instead: 'a sentence that stands alone' }]);
      expect(findInSource(source)).to.deep.equal([]);
    });
  }

  it('passes over sentences and nouns above a member, and finds phrases in them', () => {
    const find = (comment: string) => findInStrictSource(`/** ${comment} */\nconst a = 1;\n`).map(({ found }) => found);
    for (const comment of [
      'Returns the records.',
      'Maximum number of rows per page.',
      'Whether the service sets the value.',
      'Set of records.',
      'In a pattern, `%` is a wildcard.',
      'Finds a record.\n * @throws Fault 404',
    ]) {
      expect(find(comment), comment).to.deep.equal([]);
    }
    expect(find('Calls the subscriber that is told.')).to.deep.equal(['is told']);
  });

  for (const [text, found] of [
    ['A retry goes on where the first one ended.', 'goes on'],
    ['The provider is not asked again.', 'is not asked'],
    ['A second call gives an error.', 'gives an error'],
    ['A list takes no filter.', 'takes no filter'],
  ] as const) {
    it(`finds '${found}'`, () => {
      expect(findInDocument(text).map((fault) => fault.found)).to.deep.equal([found]);
    });
  }

  it('passes over the same verbs in their own meaning', () => {
    const text = 'A role gives its users a privilege. The start takes three seconds. An event tells the product.';
    expect(findInDocument(text)).to.deep.equal([]);
  });

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
