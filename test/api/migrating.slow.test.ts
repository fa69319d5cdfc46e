import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import document from '../../generated/openapi.json' with { type: 'json' };
import { toOriginalBody } from '../../src/events/message.ts';
import { useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { SHOP } from './support/simulated.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../../docs', name), 'utf8');
const blocksOf = (text: string) =>
  [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, json = '']) => JSON.parse(json));

describe('docs/how-to/migrating.md', () => {
  const service = useSharedApp();

  it('shows the notification that an event of docs/reference/events.md becomes', () => {
    const event = blocksOf(read('reference/events.md')).find((block) => 'type' in block);
    const [, notification] = blocksOf(read('how-to/migrating.md'));
    const made = toOriginalBody(Buffer.from(JSON.stringify(event)), { companyId: 3 });
    expect(JSON.parse(made.toString())).to.deep.equal(notification);
  });

  it('has a configuration that elements take', async () => {
    const [configuration] = blocksOf(read('how-to/migrating.md'));
    const { body } = await service.call('/elements/bamboohr');
    const known = body.configuration.map(({ key }: { readonly key: string }) => key);
    expect(known).to.include.members(Object.keys(configuration));
  });

  it('names the way to what is no object, and as missing only what has no path', () => {
    const text = read('how-to/migrating.md');
    const paths = Object.keys(document.paths);
    expect(text)
      .to.include('`/passthrough/{path}`')
      .and.not.to.match(/no request to a path of the provider/);
    expect(paths).to.include('/passthrough/{path}');
    const [, missing = ''] = /^Not here yet: (.*)$/m.exec(text) ?? [];
    expect(missing).to.match(/formulas, transformations/);
    expect(paths.filter((path) => /formula|transformation/.test(path))).to.deep.equal([]);
  });

  it('is right about double quotes', async () => {
    const { token } = await service.createInstance('odata', SHOP);
    const answer = await service.call('/Products', { query: { where: 'Name = "Guide"' }, token });
    expectProblem(answer, 'WHERE_SYNTAX', /Write text in single quotes: 'Guide', not "Guide"\./);
  });
});
