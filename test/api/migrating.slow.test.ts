import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import document from '../../generated/openapi.json' with { type: 'json' };
import { toOriginalBody } from '../../src/events/message.ts';
import { pluck, useSharedApp } from '../support/app.ts';
import { codeBlocks } from '../support/code-blocks.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');
const blocksOf = (text: string) =>
  codeBlocks(text)
    .filter(({ language }) => language === 'json')
    .map(({ code }) => JSON.parse(code));

describe('the documents on Cloud Elements', () => {
  const service = useSharedApp();

  it('shows the notification that an event of docs/reference/events.md becomes', () => {
    const event = blocksOf(read('reference/events.md')).find((block) => 'type' in block);
    const [notification] = blocksOf(read('reference/cloud-elements.md'));
    const made = toOriginalBody(Buffer.from(JSON.stringify(event)), { companyId: 3 });
    expect(JSON.parse(made.toString())).to.deep.equal(notification);
  });

  it('has a configuration that elements take', async () => {
    const [configuration] = blocksOf(read('how-to/migrating.md'));
    const body = await service.get('/elements/bamboohr');
    const known = pluck(body.configuration, 'key');
    expect(known).to.include.members(Object.keys(configuration));
  });

  it('names the way to what is no object, and as missing only what has no path', () => {
    const text = read('reference/cloud-elements.md');
    const paths = Object.keys(document.paths);
    expect(text)
      .to.include('`/passthrough/{path}`')
      .and.not.to.match(/no request to a path of the provider/);
    expect(paths).to.include('/passthrough/{path}');
    // Nothing of the paths is missing.
    expect(text).not.to.match(/^Not here yet/m);
  });

  it('lists paths that there are', () => {
    const known = Object.keys(document.paths).map(toPattern);
    const [, table = ''] = /^## Paths\n([\s\S]*?)^## /m.exec(read('reference/cloud-elements.md')) ?? [];
    const rows = [...table.matchAll(/^\| (`.*?) \| the same \|/gm)].map(([, cell = '']) => cell);
    const listed = rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path));
    expect(listed).to.have.length.above(30);
    expect(listed.filter((path) => !known.includes(toPattern(path)))).to.deep.equal([]);
  });

  it('is right about double quotes', async () => {
    const { token } = await service.createInstance('odata', SHOP);
    const response = await service.call('/Products', { query: { where: 'Name = "Guide"' }, token });
    expectProblem(response, 'WHERE_SYNTAX', /Write text in single quotes: 'Guide', not "Guide"\./);
  });
});

/** Whatever its parameters are called. */
function toPattern(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '{}');
}
