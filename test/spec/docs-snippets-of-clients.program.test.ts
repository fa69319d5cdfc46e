import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';
import document from '../../generated/openapi.json' with { type: 'json' };
import { listOperations } from '../../src/api/docs/open-api.ts';
import { snippetsFor } from '../../src/api/docs/snippets.ts';

const SDK = resolve(import.meta.dirname, '../../generated/sdk');
const BASE_PATH = '/elements/api-v2';

interface Snippet {
  readonly id: string;
  readonly text: string;
}

function snippetsIn(language: string): readonly Snippet[] {
  return listOperations(document).flatMap((operation) =>
    snippetsFor(document, BASE_PATH, operation)
      .filter((snippet) => snippet.language === language)
      .map(({ text }) => ({ id: operation.id, text })),
  );
}

/**
 * `npm run sdk` makes the clients, and needs Java. The tests of a client that is not there are skipped with a line that says so. They run alone,
 * as `.ci/run` makes the clients beside the other tests.
 */
function describeClient(folder: string, tests: (root: string) => void): void {
  const root = join(SDK, folder);
  if (existsSync(root)) describe(`the requests of /docs in the ${folder} client`, () => tests(root));
  else it.skip(`the requests of /docs in the ${folder} client: npm run sdk has not made generated/sdk/${folder}`);
}

describeClient('typescript', (root) => {
  it('compile, each as a program of its own', function compile() {
    this.timeout(120_000);
    const snippets = snippetsIn('TypeScript');
    const files = new Map(snippets.map(({ id, text }) => [join(root, 'snippets', `${id}.ts`), text]));
    expect(files.size).to.be.above(50);
    expect(faultsOf(root, files)).to.deep.equal([]);
  });

  it('are seen to be wrong where they are', function compile() {
    this.timeout(120_000);
    const [wrong = ''] = snippetsIn('TypeScript')
      .filter(({ id }) => id === 'createInstance')
      .map(({ text }) => text.replace('instanceCreate:', 'instance:'));
    expect(faultsOf(root, new Map([[join(root, 'snippets/wrong.ts'), wrong]]))).to.have.length(1);
  });
});

/** What the compiler says of files that are there in memory only, beside the client that they import by its name. */
function faultsOf(root: string, files: ReadonlyMap<string, string>): readonly string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    moduleDetection: ts.ModuleDetectionKind.Force,
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, version, ...rest) => {
    const text = files.get(file);
    return text === undefined ? getSourceFile(file, version, ...rest) : ts.createSourceFile(file, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const words = ts.flattenDiagnosticMessageText(messageText, '\n');
    return `${file?.fileName.slice(root.length)}: ${words}`;
  });
}

describeClient('python', (root) => {
  it('call methods and give arguments that there are', () => {
    const sources = readSources(root, /\.py$/);
    const undeclared = snippetsIn('Python').flatMap(({ id, text }) => {
      const [, method = ''] = /causeway\.\w+\.(\w+)\(/.exec(text) ?? [];
      const names = [...text.matchAll(/^ {4}(\w+)=/gm)].map(([, name = '']) => name);
      const declared = declarationOf(sources, new RegExp(`def ${method}\\(([\\s\\S]*?)\\) ->`));
      if (declared === undefined) return [`${id}: ${method}`];
      return names
        .filter((name) => !new RegExp(`\\b${name}:`).test(declared))
        .map((name) => `${id}: ${method} ${name}`);
    });
    expect(undeclared).to.deep.equal([]);
  });
});

describeClient('java', (root) => {
  it('call methods that there are, and import classes that there are', () => {
    const sources = readSources(root, /\.java$/);
    const undeclared = snippetsIn('Java').flatMap(({ id, text }) => {
      const [, method = ''] = /var response = (?:new \w+\(causeway\)|causeway\.\w+\(\))\.(\w+)\(/.exec(text) ?? [];
      const classes = [...text.matchAll(/^import causeway\.client\.(?:\w+\.)?(\w+);/gm)].map(([, name = '']) => name);
      const isThere = sources.some((source) => new RegExp(`public \\S.* ${method}\\(`).test(source));
      const absent = classes.filter(
        (name) => !sources.some((each) => new RegExp(`(?:class|enum) ${name}\\b`).test(each)),
      );
      return [...(isThere ? [] : [`${id}: ${method}`]), ...absent.map((name) => `${id}: ${name}`)];
    });
    expect(undeclared).to.deep.equal([]);
  });
});

describeClient('go', (root) => {
  it('call methods that there are, with types and fields that there are', () => {
    const sources = readSources(root, /\.go$/);
    const undeclared = snippetsIn('Go').flatMap(({ id, text }) => {
      const [, method = ''] = /client\.\w+\.(\w+)\(/.exec(text) ?? [];
      const types = [...text.matchAll(/\bcauseway\.([A-Z]\w+)(?=[{\n])/g)].map(([, name = '']) => name);
      const fields = [...text.matchAll(/Params\{(.*)\}/g)].flatMap(([, given = '']) =>
        [...given.matchAll(/(\w+): /g)].map(([, name = '']) => name),
      );
      const isThere = sources.some((source) => new RegExp(`^func \\(\\w+ \\*?\\w+\\) ${method}\\(`, 'm').test(source));
      const absent = types.filter((name) => !sources.some((each) => new RegExp(`^type ${name}\\b`, 'm').test(each)));
      const declared =
        declarationOf(sources, new RegExp(`^type ${method}Params struct \\{([\\s\\S]*?)^\\}`, 'm')) ?? '';
      const unknown = fields.filter((name) => !new RegExp(`^\\t${name}\\s`, 'm').test(declared));
      return [...(isThere ? [] : [method]), ...absent, ...unknown].map((name) => `${id}: ${name}`);
    });
    expect(undeclared).to.deep.equal([]);
  });
});

function readSources(root: string, names: RegExp): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

/** What stands between the parentheses or braces of the first declaration that is found. */
function declarationOf(sources: readonly string[], pattern: RegExp): string | undefined {
  for (const source of sources) {
    const found = pattern.exec(source);
    if (found !== null) return found[1];
  }
  return undefined;
}

describeClient('cli', (root) => {
  const [USAGE, NOT_LOGGED_IN] = [2, 4];
  /** Runs a command of a user who is not logged in, which it notices after it has read its arguments. */
  function runCommand(text: string) {
    const program = join(root, 'dist/src/main.js');
    const script = `causeway() { "${process.execPath}" "${program}" "$@"; }\n${text}`;
    const env = { XDG_CONFIG_HOME: join(tmpdir(), 'nothing') };
    const { status, stderr } = spawnSync('sh', ['-c', script], { env, input: '', encoding: 'utf8', cwd: tmpdir() });
    return { status, stderr };
  }

  it('are commands with arguments and options that it has', function run() {
    this.timeout(120_000);
    const faults = snippetsIn('CLI')
      .map(({ id, text }) => ({ id, ...runCommand(text) }))
      // Two of them read their file before.
      .filter(({ status, stderr }) => status !== NOT_LOGGED_IN && !stderr.startsWith('Error: There is no file'));
    expect(faults).to.deep.equal([]);
    expect(runCommand('causeway query Orders --filter x').status).to.equal(USAGE);
  });
});
