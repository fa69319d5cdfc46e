import { execFileSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { expect } from 'chai';
import document from '../../generated/openapi.json' with { type: 'json' };
import { COMMANDS } from '../../src/api/docs/commands.ts';
import { type DocumentedOperation, listOperations } from '../../src/api/docs/open-api.ts';
import { snippetsFor } from '../../src/api/docs/snippets.ts';

const BASE_PATH = '/elements/api-v2';
const operations = listOperations(document);
const snippets = operations.flatMap((operation) =>
  snippetsFor(document, BASE_PATH, operation).map((snippet) => ({ ...snippet, id: operation.id })),
);
const textsIn = (language: string) => snippets.filter((each) => each.language === language);
const snippet = (id: string, language: string) => textsIn(language).find((each) => each.id === id)?.text;

describe('the request of an operation in each language', () => {
  it('is there in curl for every operation, and in four clients for what they have', () => {
    expect(textsIn('curl').map(({ id }) => id)).to.have.members(operations.map(({ id }: DocumentedOperation) => id));
    for (const language of ['TypeScript', 'Python', 'Java', 'Go'])
      expect(
        textsIn(language).map(({ id }) => id),
        language,
      )
        .to.include.members(['createInstance', 'listRecords', 'updateRecord', 'getUser'])
        .and.not.include.members(['listHubRecords', 'createConsoleSession', 'passGet']);
  });

  it('is a command that a shell reads', function check() {
    this.timeout(20_000);
    const script = textsIn('curl')
      .map(({ text }) => text)
      .join('\n');
    execFileSync('sh', ['-n'], { input: script, stdio: ['pipe', 'ignore', 'pipe'] });
    const [command = ''] = textsIn('curl')
      .filter(({ id }) => id === 'listRecords')
      .map(({ text }) => text);
    const sent = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], {
      env: {
        CAUSEWAY_URL: 'http://localhost',
        CAUSEWAY_USER_SECRET: 'u',
        CAUSEWAY_ORGANIZATION_SECRET: 'o',
        CAUSEWAY_ELEMENT_TOKEN: 't',
      },
      encoding: 'utf8',
    }).split('\n');
    expect(sent).to.include.members([
      'http://localhost/elements/api-v2/Orders',
      'Authorization: User u, Organization o, Element t',
    ]);
  });

  it('is a command of the command line where it has one', () => {
    expect(textsIn('CLI').map(({ id }) => id)).to.have.members(Object.keys(COMMANDS));
    expect(snippet('listRecords', 'CLI')).to.equal(
      "causeway query Orders --where 'PlacedAt >= '\\''2026-01-10'\\''' --fields Code,PlacedAt,Paid --order-by 'PlacedAt desc'",
    );
    for (const { id, text } of textsIn('CLI')) expect(text, id).not.to.match(/[{}]/);
  });

  it('is TypeScript without a fault of syntax', () => {
    for (const { id, text } of textsIn('TypeScript')) expect(() => stripTypeScriptTypes(text), id).not.to.throw();
    expect(() => stripTypeScriptTypes('await causeway.')).to.throw(SyntaxError);
  });

  it('names methods and arguments as the generators do', () => {
    expect(snippet('getSubscription', 'TypeScript')).to.include(
      'causeway.notifications.getSubscription({\n  id: 1,\n})',
    );
    expect(snippet('createInstance', 'Python')).to.include(
      'causeway.instances.create_instance(\n    instance_create={',
    );
    expect(snippet('getSubscription', 'Java')).to.include('causeway.notifications().getSubscription(1L)');
    expect(snippet('createInstance', 'Go'))
      .to.include('var body causeway.InstanceCreate')
      .and.include('response, err := client.Instances.CreateInstance(ctx, body, nil)');
  });
});
