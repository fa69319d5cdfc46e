import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { expect } from 'chai';
import { parseDockerfile } from '../scripts/image/dockerfile.ts';
import { readConfig, VARIABLES } from '../src/config/index.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const VARIABLE_NAMES = Object.values(VARIABLES).map(({ name }): string => name);

/** With the value that stands for each secret that has to be given. */
function expand(text: string): string {
  const given: Readonly<Record<string, string>> = {
    ENCRYPTION_KEYS: `key:${Buffer.alloc(32).toString('base64')}`,
    BOOTSTRAP_ORGANIZATION_SECRET: 'organization-secret',
    BOOTSTRAP_USER_SECRET: 'user-secret-of-sixteen',
    POSTGRES_PASSWORD: 'password',
  };
  return text.replaceAll(/\$\{(\w+)(?::([?-])([^}]*))?\}/g, (_, name: string, kind?: string, text = '') =>
    kind === '-' ? text : (given[name] ?? `no value for ${name}`),
  );
}

describe('the Dockerfile', () => {
  const steps = parseDockerfile(read('Dockerfile'));
  const of = (instruction: string) => steps.filter((step) => step.instruction === instruction).map(({ text }) => text);

  it('copies what is there, and nothing that .dockerignore keeps out', () => {
    const kept = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const fromContext = of('COPY').filter((text) => !text.startsWith('--from='));
    const sources = new Set(fromContext.flatMap((text) => text.split(' ').slice(0, -1)));
    expect([...sources].filter((path) => !existsSync(join(ROOT, path)))).to.deep.equal([]);
    expect([...sources].sort()).to.deep.equal([...kept].sort());
  });

  it('has the Node.js that package.json asks for, and starts as npm does', () => {
    const { engines, scripts } = JSON.parse(read('package.json'));
    for (const image of of('FROM')) expect(image).to.match(new RegExp(`^node:${engines.node.slice(2).split('.')[0]}-`));
    // Node.js of the image is new enough, and it keeps nothing that it has compiled.
    const command = scripts.start.replace(/^exec | --require \S+/g, '').split(' ');
    expect(JSON.parse(of('CMD')[0] ?? '[]')).to.deep.equal(command);
  });

  it('sets variables that there are', () => {
    const names = of('ENV').map((text) => text.split('=')[0] ?? '');
    expect(VARIABLE_NAMES).to.include.members(names);
  });

  it('is read as one instruction a line, with comments left out and long lines joined', () => {
    expect(parseDockerfile('# none\nrun a \\\n  b\n\nCMD ["x"]\n')).to.deep.equal([
      { instruction: 'RUN', text: 'a b' },
      { instruction: 'CMD', text: '["x"]' },
    ]);
  });
});

describe('compose.yaml', () => {
  const { services } = Object(parseYaml(read('compose.yaml')));

  for (const [name, role] of [
    ['api', 'api'],
    ['worker', 'worker'],
  ] as const) {
    it(`gives the ${name} a configuration that the service takes`, () => {
      const environment: Record<string, string> = {};
      for (const [key, text] of Object.entries(services[name].environment)) environment[key] = expand(String(text));
      expect(VARIABLE_NAMES).to.include.members(Object.keys(environment));
      const config = readConfig(environment);
      expect(config).to.include({ role, metricsPort: 9464, publicUrl: 'http://localhost:8080' });
      expect(config.databaseUrl).to.equal('postgres://causeway:password@database:5432/causeway');
      expect(Number.parseInt(services[name].stop_grace_period, 10) * 1000).to.be.above(config.shutdownTimeoutMs);
    });
  }
});
