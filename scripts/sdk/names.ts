/**
 * The names of the clients and of the command line. `sdk/names.json` is their only source: `npm run sdk:names` writes them into every file
 * that contains one: manifests, sources, checks, READMEs, and the snippets of the console and of `/docs`.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

interface NamedFile {
  /** File, and the position in it, that contains the name as it is now. */
  readonly manifest: string;
  readonly pattern: RegExp;
  /** Folders and files that contain the name. */
  readonly within: readonly string[];
  /** Returns the name with the characters around it, for names that are too short to be distinguished from other words. */
  readonly spell?: (name: string) => string;
  /** Returns the folders that have the name. */
  readonly folders?: (name: string) => readonly string[];
}

const SNIPPETS = ['console/explore/snippets.ts', 'src/api/docs/snippets.ts'];

const PLACES = {
  typescriptPackage: {
    manifest: 'sdk/typescript/package.json',
    pattern: /"name": "(.*)"/,
    within: ['sdk/typescript', 'sdk/cli', ...SNIPPETS],
  },
  cliPackage: { manifest: 'sdk/cli/package.json', pattern: /"name": "(.*)"/, within: ['sdk/cli'] },
  pythonPackage: { manifest: 'sdk/python/pyproject.toml', pattern: /^name = "(.*)"/m, within: ['sdk/python'] },
  pythonModule: {
    manifest: 'sdk/python/generator.yaml',
    pattern: /^packageName: (.*)$/m,
    within: ['sdk/python', ...SNIPPETS],
    folders: (name) => [`sdk/python/${name}`],
  },
  goModule: { manifest: 'sdk/go/go.mod', pattern: /^module (.*)$/m, within: ['sdk/go'] },
  javaGroup: {
    manifest: 'sdk/java/pom.xml',
    pattern: /<groupId>(.*)<\/groupId>/,
    within: ['sdk/java'],
    spell: (name) => `<groupId>${name}</groupId>`,
  },
  javaArtifact: { manifest: 'sdk/java/pom.xml', pattern: /<artifactId>(.*)<\/artifactId>/, within: ['sdk/java'] },
  javaPackage: {
    manifest: 'sdk/java/generator.yaml',
    pattern: /invokerPackage: (.*)$/m,
    within: ['sdk/java', ...SNIPPETS],
    folders: (name) => ['main', 'test'].map((part) => `sdk/java/src/${part}/java/${name.replaceAll('.', '/')}`),
  },
} satisfies Record<string, NamedFile>;

export type Names = Readonly<Record<keyof typeof PLACES, string>>;

/** Reads the names in `sdk/names.json`. */
export function readNames(root = ROOT): Names {
  const { owned: _, ...names } = readTable(root);
  return names;
}

/** Reads the names under which the packages are published in a registry. */
export function readOwned(root = ROOT): readonly string[] {
  return readTable(root).owned;
}

function readTable(root: string): Names & { readonly owned: readonly string[] } {
  return JSON.parse(readFileSync(join(root, 'sdk/names.json'), 'utf8'));
}

/** Returns the names in the manifests: those of `sdk/names.json`, unless that was just changed. */
export function readWrittenNames(root = ROOT): Names {
  return Object.fromEntries(
    places().map(([key, { manifest, pattern }]) => {
      const name = pattern.exec(readFileSync(join(root, manifest), 'utf8'))?.[1];
      if (name === undefined) throw new Error(`${manifest} has no name.`);
      return [key, name];
    }),
  ) as Names;
}

/**
 * Compares the names in the sources with `sdk/names.json`.
 * @throws Error when `npm run sdk:names` was not run after a change of `sdk/names.json`
 */
export function assertNamesAreWritten(): void {
  const [wanted, written] = [readNames(), readWrittenNames()];
  const other = places().filter(([key]) => wanted[key] !== written[key]);
  if (other.length === 0) return;
  const differences = other.map(
    ([key, { manifest }]) => `${key} is ${wanted[key]}, and ${written[key]} in ${manifest}`,
  );
  throw new Error(`In sdk/names.json ${differences.join('; ')}. Run: npm run sdk:names`);
}

/** Replaces the names in all files by those of `sdk/names.json`. */
export function writeNames(root = ROOT): void {
  const [wanted, written] = [readNames(root), readWrittenNames(root)];
  for (const [key, place] of places()) {
    if (wanted[key] === written[key]) continue;
    replaceName(place, root, written[key], wanted[key]);
  }
}

function replaceName(
  { within, spell = (name) => name, folders }: NamedFile,
  root: string,
  from: string,
  to: string,
): void {
  const before = new RegExp(`(?<![\\w@/.-])${spell(from).replaceAll(/\W/g, '\\$&')}(?![\\w-])`, 'g');
  for (const file of within.flatMap((path) => filesIn(join(root, path)))) {
    const text = readFileSync(file, 'utf8');
    const replaced = text.replaceAll(before, () => spell(to));
    if (replaced !== text) writeFileSync(file, replaced);
  }
  folders?.(from).forEach((folder, index) => {
    const target = folders(to)[index];
    if (target !== undefined) moveFolder(join(root, folder), join(root, target));
  });
}

/** Moves a folder, and removes parent folders of the old one that are then empty. */
function moveFolder(from: string, to: string): void {
  const files = readdirSync(from, { withFileTypes: true }).map(({ name }) => name);
  for (const name of files) {
    cpSync(join(from, name), join(to, name), { recursive: true });
    rmSync(join(from, name), { recursive: true });
  }
  for (let folder = from; readdirSync(folder).length === 0; folder = dirname(folder))
    rmSync(folder, { recursive: true });
}

function filesIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function places(): readonly (readonly [keyof Names, NamedFile])[] {
  return Object.entries(PLACES) as [keyof Names, NamedFile][];
}
