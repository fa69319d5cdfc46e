import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { assertNamesAreWritten, readNames, readOwned, readWrittenNames, writeNames } from '../scripts/sdk/names.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** Whatever people read: documents, and sources with the texts of the service, the console, the scripts and the command line. */
const TEXTS = globSync(
  [
    ...['*.md', 'docs/**/*.md', 'connectors/**/*.{md,ts}', 'generated/*.{md,yaml,json}', 'spec/**/*.yaml'],
    ...['src/**/*.{ts,tsx,html,cjs}', 'scripts/**/*.ts', 'sdk/**/*.md', 'sdk/*/src/**/*.{ts,java}'],
    ...['sdk/**/*.{go,py,mustache,handlebars}', 'package.json', 'Dockerfile', 'compose.yaml'],
  ],
  { cwd: ROOT },
).filter((file) => !file.includes('node_modules'));

/** Commands that get packages, each with what it gets. */
const INSTALLERS = [
  /\b(?:npx|bunx|pnpx|uvx)[ \t]+([^`'"\n|;&)]+)/g,
  /\b(?:npm|pnpm|yarn|bun)[ \t]+(?:i|install|add|exec|x|dlx|create|init)[ \t]+([^`'"\n|;&)]+)/g,
  /\b(?:pip3?|pipx|uv pip|python3? -m pip)[ \t]+install[ \t]+([^`'"\n|;&)]+)/g,
  /\b(?:poetry|uv|cargo|conda|gem|brew)[ \t]+(?:add|install)[ \t]+([^`'"\n|;&)]+)/g,
  /\bgo[ \t]+(?:get|install|run)[ \t]+([^`'"\n|;&)]+)/g,
  /\bgo[ \t]+mod[ \t]+edit[ \t]+-(?:replace|require)[ =]\S+?=([^`'"\n|;&)\s]+)/g,
  /\bdocker[ \t]+(?:pull|run)[ \t]+([^`'"\n|;&)]+)/g,
];

/** A folder or a file of a clone, or one that the reader knows. */
const FROM_A_FOLDER = /^(?:<[^>]*>|\.{0,2}\/|\.{1,2}$|…$)/;

function strangersIn(text: string): readonly string[] {
  const owned = readOwned();
  return INSTALLERS.flatMap((installer) =>
    [...text.matchAll(installer)].flatMap(([line, packages = '']) => {
      const named = packages
        .replaceAll(/<[^>]*>/g, (placeholder) => placeholder.replaceAll(' ', '-'))
        .split(/\s+/)
        .filter((word) => word !== '' && !word.startsWith('-'));
      return named.every((name) => FROM_A_FOLDER.test(name) || owned.includes(name)) ? [] : [line];
    }),
  );
}

/** What examples of the clients import, by the form of their language. */
const IMPORTS = {
  typescriptPackage: /from '(@?causeway[^']*)'/g,
  pythonModule: /^from (causeway\w*)[\w.]* import/gm,
  goModule: /^\s*causeway "([^"]+)"/gm,
  javaPackage: /^import (?:static )?([a-z.]*\bcauseway\b[a-z.]*)\.[A-Z*]/gm,
} as const;

describe('what is installed', () => {
  it('comes from a clone, whatever document or message says it', () => {
    const strangers = TEXTS.flatMap((file) => strangersIn(read(file)).map((line) => `${file}: ${line}`));
    expect(strangers).to.deep.equal([]);
  });

  it('would be found if it came from elsewhere', () => {
    const lines = [
      ...['npx causeway login', 'npm i -g causeway', 'npm install @causeway/client', 'pip install causeway-client'],
      ...['go get causeway.dev/client', 'npm exec causeway', 'uvx causeway'],
      ...['go mod edit -replace causeway/client=example.org/client'],
    ];
    expect(strangersIn(lines.join('\n'))).to.have.members(lines);
    expect(strangersIn('npm install <clone>/generated/sdk/typescript.tgz\nnpm ci && npm install')).to.deep.equal([]);
  });

  it('is imported under the names of sdk/names.json', () => {
    const names = readNames();
    for (const [key, pattern] of Object.entries(IMPORTS) as [keyof typeof IMPORTS, RegExp][]) {
      const imported = TEXTS.flatMap((file) =>
        [...read(file).matchAll(pattern)].map(([, name = '']) => ({ file, name })),
      );
      const wrong = imported.filter(({ name }) => name !== names[key] && !name.startsWith(`${names[key]}.`));
      expect(wrong, key).to.deep.equal([]);
      expect(imported.length, key).to.be.above(1);
    }
  });

  it('says the version that the packages are made with', () => {
    const { info } = JSON.parse(read('generated/openapi.json'));
    expect(read('sdk/java/README.md')).to.include(`<version>${info.version}</version>`);
  });
});

describe('the names of the clients', () => {
  let folder = '';
  const parts = ['sdk', 'console/explore/snippets.ts'];
  const textsOf = (root: string) => {
    const files = globSync(
      parts.flatMap((part) => [part, `${part}/**/*.*`, `${part}/**/check`]),
      { cwd: root },
    );
    const texts = files.flatMap((file) => {
      try {
        return [[file, readFileSync(join(root, file), 'utf8')] as const];
      } catch {
        return [];
      }
    });
    return Object.fromEntries(texts.sort(([one], [other]) => one.localeCompare(other)));
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-names-'));
    for (const part of parts) {
      mkdirSync(dirname(join(folder, part)), { recursive: true });
      cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    }
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are written wherever they stand', () => {
    expect(readWrittenNames()).to.deep.equal(readNames());
    assertNamesAreWritten();
  });

  it('are set in one file, and follow everywhere', () => {
    const [before, names] = [textsOf(folder), readNames(folder)];
    const others = {
      typescriptPackage: '@acme/bridge',
      cliPackage: '@acme/bridge-cli',
      pythonPackage: 'acme-bridge',
      pythonModule: 'acme_bridge',
      goModule: 'go.acme.example/bridge',
      javaGroup: 'example.acme',
      javaArtifact: 'bridge',
      javaPackage: 'example.acme.bridge',
    };
    rename(others);
    expect(readWrittenNames(folder)).to.deep.equal(others);
    const after = textsOf(folder);
    expect(after).to.include.keys(
      'sdk/python/acme_bridge/client.py',
      'sdk/java/src/main/java/example/acme/bridge/Causeway.java',
      'sdk/java/src/test/java/example/acme/bridge/WhereTest.java',
    );
    const kept = Object.entries(after).flatMap(([file, text]) =>
      Object.values(names)
        .filter((name) => name.length > 'causeway'.length && text.includes(name))
        .map((name) => `${file}: ${name}`),
    );
    expect(kept).to.deep.equal([]);

    rename(names);
    expect(textsOf(folder)).to.deep.equal(before);
  });

  function rename(names: ReturnType<typeof readNames>): void {
    writeFileSync(join(folder, 'sdk/names.json'), `${JSON.stringify({ owned: [], ...names }, undefined, 2)}\n`);
    writeNames(folder);
  }
});
