import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Config, Connector } from '../../src/connector/contract.ts';
import { path } from '../../src/connector/index.ts';
import { createRegistry, loadConnectors, OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { ConnectorError } from '../../src/connector/validate.ts';
import { isAppError } from '../../src/errors.ts';
import { startTestApp } from '../support/app.ts';
import { leastConnector } from '../support/least-connector.ts';

const createConnector = (key: string, id: number) =>
  leastConnector({
    key,
    id,
    name: key,
    description: key,
    baseUrl: () => 'https://example.com',
    hosts: ['example.com'],
  });

/** What is thrown; undefined when nothing is. */
async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('the registry of connectors', () => {
  const registry = createRegistry([createConnector('zebra', 2), createConnector('antelope', 1)]);

  it('finds a connector by key and by id', () => {
    expect(registry.getConnector('zebra').id).to.equal(2);
    expect(registry.getConnector('1').key).to.equal('antelope');
  });

  it('adds a host that the operator allows, for instances whose settings lead there alone', () => {
    const baseUrl = ({ host = 'example.com' }: Config) => `https://${host}/api`;
    const acme: Connector = { ...createConnector('acme', 3), baseUrl };
    const allowed = [
      { element: 'acme', host: 'support.example.org' },
      { element: 'acme', host: '*.example.net' },
    ];
    const { hosts } = createRegistry([acme, createConnector('other', 4)], allowed).getConnector('acme');
    const hostsFor = (host: string) => (typeof hosts === 'function' ? hosts({ host }) : hosts);
    expect(hostsFor('example.com')).to.deep.equal(['example.com']);
    expect(hostsFor('support.example.org')).to.deep.equal(['example.com', 'support.example.org']);
    expect(hostsFor('acme.example.net')).to.deep.equal(['example.com', 'acme.example.net']);
    expect(hostsFor('evil.example')).to.deep.equal(['example.com']);
    const unknown = [{ element: 'acmee', host: 'example.org' }];
    expect(() => createRegistry([acme], unknown)).to.throw(
      ConnectorError,
      "PROVIDER_HOSTS allows example.org for the element 'acmee', which does not exist. Did you mean 'acme'?",
    );
  });

  it('lists connectors by key', () => {
    expect(registry.connectors.map(({ key }) => key)).to.deep.equal(['antelope', 'zebra']);
  });

  it('suggests the nearest key for one that is not there', async () => {
    const error = await thrownBy(() => registry.getConnector('zebr'));
    expect(isAppError(error, 'NOT_FOUND') && error.message).to.equal(
      "There is no element 'zebr'. Did you mean 'zebra'?",
    );
  });

  it('suggests nothing for a key that is like no other', async () => {
    for (const [key, shown] of [
      ['qqqqqqqqqq', "'qqqqqqqqqq'"],
      ['99', '99'],
      ['constructor', "'constructor'"],
    ] as const) {
      const error = await thrownBy(() => registry.getConnector(key));
      expect(isAppError(error, 'NOT_FOUND') && error.message).to.equal(`There is no element ${shown}.`);
    }
  });

  it('is not made of connectors with problems', async () => {
    const error = await thrownBy(() => createRegistry([createConnector('a', 1), createConnector('b', 1)]));
    expect(error).to.be.instanceOf(ConnectorError);
    expect(error).to.have.property('problems').that.deep.equals(['b: the id 1 belongs to another connector already']);
  });
});

describe('connectors in folders', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-connectors-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function write(key: string, files: Readonly<Record<string, string>>): Promise<void> {
    await mkdir(join(folder, key));
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, key, name), text)));
  }

  it('are all of this repository, and usable', async () => {
    const { connectors } = createRegistry(await loadConnectors({ folders: [OWN_CONNECTORS] }));
    expect(connectors.map(({ key }) => key)).to.include.members(['bamboohr', 'odata']);
  });

  it('are those folders that have an index.ts', async () => {
    await mkdir(join(folder, 'notes'));
    await writeFile(join(folder, 'index.ts'), 'throw new Error("not a connector");');
    expect(await loadConnectors({ folders: [folder] })).to.deep.equal([]);
  });

  it('need a default export and the name of its key, and all that do not are named', async () => {
    await write('empty', { 'index.ts': 'export const nothing = 1;' });
    await write('one', { 'index.ts': "export default { key: 'two' };" });
    const error = await thrownBy(() => loadConnectors({ folders: [folder] }));
    expect(error).to.be.instanceOf(ConnectorError);
    expect(error)
      .to.have.property('problems')
      .that.has.members([
        'empty: index.ts has no default export',
        "one: the folder holds a connector with the key 'two'",
      ]);
  });

  it('need the contract of this version, and both versions are named where they have another', async () => {
    await write('old', { 'index.ts': "export default { key: 'old', contract: 1 };" });
    await write('silent', { 'index.ts': "export default { key: 'silent' };" });
    expect((await loadConnectors({ folders: [folder] })).map(({ key }) => key)).to.have.members(['old', 'silent']);
    await write('next', { 'index.ts': "export default { key: 'next', contract: 2 };" });
    const error = await thrownBy(() => loadConnectors({ folders: [folder] }));
    expect(error)
      .to.have.property('problems')
      .that.deep.equals(['next: it is written for version 2 of the connector contract; this Causeway has version 1']);
  });

  it('may be outside the repository and import #connector, and are served with their simulator', async () => {
    await write('greeter', { 'index.ts': GREETER, 'simulator.ts': GREETER_SIMULATOR });
    const service = await startTestApp({ CONNECTORS_PATH: folder });
    try {
      const { token } = await service.createInstance('greeter', { simulator: true });
      const { body, headers } = await service.call('/greetings', { token, query: { where: "text LIKE 'hel%'" } });
      expect(body).to.deep.equal([{ id: 1, text: 'hello' }]);
      expect(headers.get('elements-query-pushdown')).to.equal('none');
      const one = await service.call('/greetings/9', { token });
      expect([one.status, one.body.message]).to.deep.equal([404, "There is no record '9' in 'greetings'."]);
    } finally {
      await service.stop();
    }
  });
});

describe('connectors in npm packages', () => {
  const folder = join(process.cwd(), 'node_modules');
  const names: string[] = [];

  afterEach(async () => {
    for (const name of names.splice(0)) await rm(join(folder, name), { recursive: true });
  });

  async function install(name: string, files: Readonly<Record<string, string>>): Promise<void> {
    names.push(name);
    await mkdir(join(folder, name), { recursive: true });
    await Promise.all(Object.entries(files).map(([file, text]) => writeFile(join(folder, name, file), text)));
  }

  it('are installed as they are written, in TypeScript, and served with their simulator', async () => {
    const typed = `${GREETER}\nexport const ANSWER: number = 42;`;
    await install('causeway-connector-greeter', { 'index.ts': typed, 'simulator.ts': GREETER_SIMULATOR });
    const service = await startTestApp({ CONNECTORS: 'causeway-connector-greeter' });
    try {
      const { token } = await service.createInstance('greeter', { simulator: true });
      const { body } = await service.call('/greetings/1', { token });
      expect(body).to.deep.equal({ id: 1, text: 'hello' });
    } finally {
      await service.stop();
    }
  });

  it('are refused with both versions where they are written for another, and named where they are not installed', async () => {
    await install('causeway-connector-later', { 'index.ts': "export default { key: 'later', contract: 2 };" });
    const packages = ['causeway-connector-later', 'causeway-connector-absent'];
    const error = await thrownBy(() => loadConnectors({ folders: [], packages }));
    expect(error)
      .to.have.property('problems')
      .that.deep.equals([
        'causeway-connector-absent: the package is not installed; `npm install <its folder>` where the service is started',
        'later: it is written for version 2 of the connector contract; this Causeway has version 1',
      ]);
  });
});

const GREETER = `
import { defineConnector, defineObject, notFound, path } from '#connector';

const ROWS = [{ id: 1, text: 'hello' }, { id: 2, text: 'good bye' }];

export default defineConnector({
  key: 'greeter',
  id: 990001,
  name: 'Greeter',
  description: 'Greetings',
  hub: 'general',
  auth: { type: 'none' },
  configuration: [],
  baseUrl: () => 'https://greeter.example.com',
  hosts: ['greeter.example.com'],
  objects: {
    greetings: defineObject({
      fields: { id: { type: 'integer', nullable: false }, text: { type: 'string' } },
      list: {
        request: () => ({ path: '/greetings' }),
        read: (response) => ({ records: response.body }),
        maxPageSize: 100,
      },
      get: {
        request: ({ id }) => ({ path: path\`/greetings?only=\${id}\` }),
        read: (response, { id }) => {
          const found = response.body.find((row) => String(row.id) === id);
          if (found === undefined) throw notFound('There is no such greeting.');
          return found;
        },
      },
    }),
  },
  probe: { path: '/' },
});
`;

const GREETER_SIMULATOR = `
export function createSimulator() {
  return {
    handle: (request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify([{ id: 1, text: 'hello' }, { id: 2, text: 'good bye' }]));
    },
  };
}
`;

describe('a path at the provider', () => {
  it('keeps every value inside its segment', () => {
    const value = "a/b?c#d%e f'g\\h:ä";
    expect(path`/rows/${value}/notes/${7}`).to.equal("/rows/a%2Fb%3Fc%23d%25e%20f'g%5Ch%3A%C3%A4/notes/7");
  });

  for (const dots of ['.', '..']) {
    it(`has no record with the id '${dots}'`, async () => {
      const error = await thrownBy(() => path`/rows/${dots}`);
      expect(isAppError(error, 'NOT_FOUND') && error.message).to.equal(`There is no record with the id '${dots}'.`);
    });
  }

  it('takes dots among other characters, and an empty value', () => {
    expect(path`/rows/${'...'}/${'a.b'}/${''}`).to.equal('/rows/.../a.b/');
  });
});
