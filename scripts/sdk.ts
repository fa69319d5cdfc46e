/**
 * Builds the clients: `node scripts/sdk.ts [language…]`, by default all of them. Each becomes a complete package in
 * `generated/sdk/<language>/`: openapi-generator makes it from the spec with the settings of `sdk/<language>/generator.yaml`, and the
 * hand-written files of `sdk/<language>/` are added.
 * A package that npm installs is also packed: `generated/sdk/typescript.tgz` is the TypeScript client. It needs Java, and npm, which
 * downloads the generator once.
 */
import { execFile } from 'node:child_process';
import { access, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readSpec } from './generate/document.ts';
import { clientDocument } from './sdk/client-document.ts';
import { choosePackages, HAND_WRITTEN } from './sdk/languages.ts';
import { assertNamesAreWritten } from './sdk/names.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = join(ROOT, 'generated/sdk');
const DOCUMENT = join(OUT, 'openapi.json');

/** The version of the program that downloads the generator. `sdk/openapitools.json` has the version of the generator. */
const GENERATOR_CLI = '@openapitools/openapi-generator-cli@2.41.0';

/** Options of Java for a program that ends soon: compiled code that is never optimized halves its CPU time. */
const SHORT_LIVED = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

/** Placeholder for the version in hand-written files. Every ecosystem accepts it as a version. */
const PLACEHOLDER = '0.0.0-dev';

/** Files of `sdk/<language>/` that configure the build and are not part of the package. */
const CONFIGURATION: ReadonlySet<string> = new Set([
  'generator.yaml',
  '.openapi-generator-ignore',
  'templates',
  'check',
  'readme.mjs',
]);

const run = promisify(execFile);

async function writeDocument(): Promise<string> {
  const { document, problems } = await readSpec(join(ROOT, 'spec/openapi.yaml'));
  if (problems.length > 0) throw new Error('The specification has faults: npm run generate names them.');
  await mkdir(OUT, { recursive: true });
  await writeFile(DOCUMENT, `${JSON.stringify(clientDocument(document), null, 2)}\n`);
  return document.info.version;
}

async function makePackage(language: string, version: string): Promise<void> {
  const folder = join(OUT, language);
  await rm(folder, { recursive: true, force: true });
  // The command line has no generated files.
  if (await isThere(join(HAND_WRITTEN, language, 'generator.yaml'))) await generate(language, folder);
  await layHandWritten(join(HAND_WRITTEN, language), folder, version);
  await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  if (await isThere(join(folder, 'package.json'))) await build(language, folder);
}

/** Compiles a package with the compiler of the clone, which npm finds above the folder. */
async function build(language: string, folder: string): Promise<void> {
  const quietly = ['--silent', '--no-audit', '--no-fund'];
  await run('npm', ['install', '--omit=dev', '--no-package-lock', '--prefer-offline', ...quietly], { cwd: folder });
  await run('npm', ['run', '--silent', 'build'], { cwd: folder });
  if (language === 'typescript') await pack(folder, `${folder}.tgz`);
}

/** Packs a package into a file whose name has no version, so that the line which installs it stays the same. */
async function pack(folder: string, target: string): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--silent'], { cwd: folder });
  await rename(join(folder, stdout.trim()), target);
}

async function generate(language: string, folder: string): Promise<void> {
  const source = join(HAND_WRITTEN, language);
  const ignore = join(source, '.openapi-generator-ignore');
  const options = [
    ['--input-spec', DOCUMENT],
    ['--config', join(source, 'generator.yaml')],
    ['--output', folder],
    ...((await isThere(ignore)) ? [['--ignore-file-override', ignore]] : []),
  ].flat();
  const cli = ['exec', '--yes', `--package=${GENERATOR_CLI}`, '--', 'openapi-generator-cli'];
  // The generator reads openapitools.json from the current folder.
  const env = { ...process.env, JAVA_OPTS: `${SHORT_LIVED} ${process.env.JAVA_OPTS ?? ''}` };
  await run('npm', [...cli, 'generate', ...options], { cwd: HAND_WRITTEN, env, maxBuffer: 1 << 26 });
}

/** Copies the hand-written files into a package. A hand-written file replaces a generated one. */
async function layHandWritten(source: string, folder: string, version: string): Promise<void> {
  await cp(source, folder, { recursive: true, filter: (file) => !CONFIGURATION.has(file.slice(source.length + 1)) });
  for (const file of await filesBelow(source)) {
    const laid = join(folder, file);
    const text = (await isThere(laid)) ? await readFile(laid, 'utf8') : '';
    if (text.includes(PLACEHOLDER)) await writeFile(laid, text.replaceAll(PLACEHOLDER, version));
  }
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Returns the languages in the order of the build. The command line needs the TypeScript client, which is built before it. */
function withItsClient(languages: readonly string[]): readonly string[] {
  if (!languages.includes('cli')) return languages;
  return [...languages.filter((name) => !['typescript', 'cli'].includes(name)), 'typescript', 'cli'];
}

const languages = withItsClient(choosePackages(process.argv.slice(2)));
assertNamesAreWritten();
const version = await writeDocument();
for (const language of languages) {
  await makePackage(language, version);
  console.log(`generated/sdk/${language}: version ${version}`);
}
