import { expect } from 'chai';
import { isShown, readTutorial } from './support/tutorial.ts';

const block = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\`\n`;

describe('the steps of a tutorial', () => {
  it('are its files, its commands, and the output below a command of the same section', () => {
    const page = [
      `# Title\n\n## How it works\n\n${block('text', 'a picture')}`,
      `## 1. Try it\n\nSave this as \`try.mjs\`:\n\n${block('js', 'console.log(1);')}`,
      `Run it:\n\n${block('bash', 'node try.mjs')}`,
      block('text', '1'),
    ].join('\n');
    expect(readTutorial(page)).to.deep.equal([
      { title: 'How it works', steps: [] },
      {
        title: '1. Try it',
        steps: [
          { kind: 'file', name: 'try.mjs', code: 'console.log(1);\n' },
          { kind: 'command', code: 'node try.mjs\n' },
          { kind: 'output', text: '1\n' },
        ],
      },
    ]);
  });

  it('have a name for each file', () => {
    const page = `## Section\n\nSave this:\n\n${block('js', 'console.log(1);')}`;
    expect(() => readTutorial(page)).to.throw("'Save this:' introduces a block of 'js' without the name of a file.");
  });

  it('show the whole output, but for what an ellipsis stands for', () => {
    expect(isShown('HTTP/1.1 200 OK\r\nDate: today\r\n\r\n[1]\n', 'HTTP/1.1 200 OK\n…\n[1]')).to.equal(true);
    expect(isShown('[1,2]', '[1]')).to.equal(false);
    expect(isShown('[1]\nmore', '[1]')).to.equal(false);
    expect(isShown('HTTP/1.1 404 Not Found\n\n[1]', 'HTTP/1.1 200 OK\n…\n[1]')).to.equal(false);
  });
});
