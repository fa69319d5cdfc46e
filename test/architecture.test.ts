import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { expect } from 'chai';

/** Who may know whom (the plan of the house); a room may import from rooms of lower levels only. */
const LEVELS: readonly (readonly string[])[] = [
  ['clock', 'redaction', 'trace'],
  [
    'cleanup',
    'collected-bytes',
    'date-pattern',
    'config',
    'errors',
    'log',
    'metrics',
    'numbers',
    'pace',
    'retry-after',
    'telemetry',
    'bounded',
    'work-buckets',
  ],
  ['shared-errors'],
  // Simulators evaluate filters with the evaluator that the platform has for rows.
  ['where', 'pairs'],
  // Token endpoints of providers, and of receivers of events.
  ['oauth-tokens'],
  ['connector', 'scripts', 'db', 'egress'],
  ['platform'],
  // What reads records asks it for the mappings in force.
  ['mappings'],
  ['accounts', 'activity', 'instances', 'resources', 'events'],
  // They ask instances for records through resources, and hand events to the engine.
  ['polls', 'bulk', 'connect'],
  // They run requests through resources, and are started by events.
  ['formulas'],
  // They watch the objects that polls, mappings and formulas use.
  ['schemas'],
  // What serves HTTP, and knows no operation and no handler.
  ['http'],
  // Tools of agents, which call the API through an argument.
  ['mcp'],
  ['api', 'jobs', 'console'],
  ['app'],
  ['main'],
];

/** Libraries that only one room, or only files of a name, may know. */
const RESERVED_LIBRARIES: Readonly<Record<string, (file: string) => boolean>> = {
  express: (file) => file.startsWith('src/api/'),
  'express-openapi-validator': (file) => file.startsWith('src/api/'),
  '@fastify/busboy': (file) => file.startsWith('src/http/'),
  'csv-parse': (file) => file === 'src/bulk/input-file.ts',
  'pg-boss': (file) => file.startsWith('src/jobs/'),
  amqplib: (file) => file === 'src/formulas/steps/amqp-request.ts',
  croner: (file) => file === 'src/formulas/schedule.ts',
  nodemailer: (file) => file === 'src/formulas/notices/mailer.ts',
  acorn: (file) => file === 'src/scripts/analysis.ts',
  '@jitl/quickjs-wasmfile-release-sync': (file) => file === 'src/scripts/thread/guest.ts',
  '@modelcontextprotocol/sdk/types.js': isOfAgents,
  '@modelcontextprotocol/sdk/server/index.js': isOfAgents,
  '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js': isOfAgents,
  chevrotain: (file) => file.startsWith('src/where/'),
  'ajv/dist/2020.js': (file) => file === 'src/connector/simulator/official/judge.ts',
  undici: (file) => file.startsWith('src/egress/'),
  oauth4webapi: (file) => file === 'src/oauth-tokens.ts',
  'prom-client': (file) => file === 'src/metrics.ts',
  '@opentelemetry/api': isTelemetry,
  '@opentelemetry/core': isTelemetry,
  '@opentelemetry/exporter-trace-otlp-proto': isTelemetry,
  '@opentelemetry/resources': isTelemetry,
  '@opentelemetry/sdk-trace': isTelemetry,
  knex: (file) => file.startsWith('src/db/') || file.endsWith('store.ts'),
};

function isTelemetry(file: string): boolean {
  return file === 'src/telemetry.ts';
}

function isOfAgents(file: string): boolean {
  return file.startsWith('src/mcp/');
}

const KNOWN_TO_EMBEDDED: readonly string[] = ['src/db/data-dir.ts', 'src/db/files.ts', 'src/errors.ts', 'src/log.ts'];

/** What reads a time or waits for one by itself. A turn of the event loop is no time. */
const RAW_TIME =
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|(?<![.\w])set(?:Timeout|Interval)\(|timers\/promises/;
const EXPORTED_TYPE = /^export (?:interface|type|class) (\w+)/gm;
const MOST_IMPORTS_OF_APP = 23;

const ROOT = resolve(import.meta.dirname, '..');
const FORBIDDEN_FOLDERS = ['utils', 'helpers', 'common', 'lib', 'types'];

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

/** Builds the pages; runs in the service and as `npm run console`. */
const CONSOLE_BUILD = 'console/build.ts';
/** What runs in browsers: the console, and the files of the service that it shares. */
const IN_BROWSERS: readonly RegExp[] = [
  /^console\//,
  /^src\/(?:where|numbers)\//,
  /^src\/errors\.ts$/,
  /^src\/bulk\/csv-cells\.ts$/,
  // The texts of the error codes, which the reference shows too.
  /^src\/api\/docs\/errors\.ts$/,
  // When retries come: pure, and without anything else.
  /^src\/events\/push\/schedule\.ts$/,
];

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'));
}

/** In the one form that biome leaves them in. */
const IMPORT = /^(?:import|export) (type )?(?:([\w*]+(?: as \w+)?)(?:, )?)?(?:\{([^}]*)\})?(?: from )?'([^']+)'/gm;
const known = new Map<string, readonly Import[]>();

function importsOf(file: string): readonly Import[] {
  const found = known.get(file) ?? readImports(file);
  known.set(file, found);
  return found;
}

function readImports(file: string): readonly Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  // What makes code has imports in templates.
  const isInTemplate = (at: number) => text.slice(0, at).split('`').length % 2 === 0;
  return [...text.matchAll(IMPORT)].flatMap(({ index, 1: type, 2: name, 3: named = '', 4: specifier = '' }) => {
    const elements = named.split(',').flatMap((element) => element.trim() || []);
    const allTypes = elements.length > 0 && elements.every((element) => element.startsWith('type '));
    const typeOnly = type !== undefined || (name === undefined && allTypes);
    return isInTemplate(index) ? [] : [{ file, target: resolveTarget(file, specifier), typeOnly }];
  });
}

function resolveTarget(file: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return relative(ROOT, join(ROOT, dirname(file), specifier))
    .split(sep)
    .join('/');
}

function withoutComments(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

function roomOf(file: string): string | undefined {
  return /^src\/([^/]+?)(?:\.ts|\/)/.exec(file)?.[1];
}

const isEmbedded = (path: string) => path.startsWith('embedded/');

const levelOf = (room: string) => LEVELS.findIndex((rooms) => rooms.includes(room));

/** The types of a neighbour on the same level are free: what crosses at run time is an argument that app.ts passes. */
function isAllowed({ file, target, typeOnly }: Import): boolean {
  const [from, to] = [roomOf(file), roomOf(target)];
  if (from === undefined || to === undefined || from === to) return true;
  return typeOnly ? levelOf(to) <= levelOf(from) : levelOf(to) < levelOf(from);
}

/** The files on a way that comes back to where it began, which is named at both ends. */
function findCircle(all: readonly Import[]): readonly string[] | undefined {
  const targets = new Map<string, string[]>();
  for (const { file, target } of all) targets.set(file, [...(targets.get(file) ?? []), target]);
  const seen = new Set<string>();

  function follow(file: string, way: readonly string[]): readonly string[] | undefined {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (seen.has(file)) return undefined;
    seen.add(file);
    for (const target of targets.get(file) ?? []) {
      const circle = follow(target, [...way, file]);
      if (circle !== undefined) return circle;
    }
    return undefined;
  }

  for (const file of targets.keys()) {
    const circle = follow(file, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe('the house', () => {
  const sources = [...filesBelow('src'), ...filesBelow('embedded')];
  const imports = sources.flatMap(importsOf);

  it('has rooms of the plan only', () => {
    const rooms = new Set(filesBelow('src').map(roomOf));
    expect([...rooms].filter((room) => room === undefined || levelOf(room) < 0)).to.deep.equal([]);
  });

  it('has no folder for leftovers', () => {
    const folders = [...sources, ...filesBelow('connectors'), ...filesBelow('test')].flatMap((file) =>
      dirname(file).split('/'),
    );
    expect(folders.filter((folder) => FORBIDDEN_FOLDERS.includes(folder))).to.deep.equal([]);
  });

  it('imports downwards only', () => {
    const wrong = imports.filter((entry) => !isAllowed(entry)).map(({ file, target }) => `${file} → ${target}`);
    expect(wrong).to.deep.equal([]);
  });

  it('lets main alone know the embedded database, which knows little of the service', () => {
    const wrong = imports
      .filter(({ file, target }) =>
        isEmbedded(file)
          ? target.startsWith('src/') && !KNOWN_TO_EMBEDDED.includes(target)
          : isEmbedded(target) && file !== 'src/main.ts',
      )
      .map(({ file, target }) => `${file} → ${target}`);
    expect(wrong).to.deep.equal([]);
  });

  it('has no circle of files, not even of their types', () => {
    const all = [...imports, ...filesBelow('connectors').flatMap(importsOf)];
    expect(findCircle(all)?.join(' → ')).to.equal(undefined);
  });

  it('has no file beside a folder of its name', () => {
    const folders = new Set(sources.map(dirname));
    expect(sources.filter((file) => folders.has(file.replace(/\.ts$/, '')))).to.deep.equal([]);
  });

  it('keeps each library in the room that may know it', () => {
    const wrong = imports
      .filter(({ file, target, typeOnly }) => !typeOnly && RESERVED_LIBRARIES[target]?.(file) === false)
      .map(({ file, target }) => `${file} → ${target}`);
    expect(wrong).to.deep.equal([]);
  });

  it('lets connectors know #connector only, and a second folder of a provider the first', () => {
    const connectorImports = filesBelow('connectors')
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap(importsOf);
    const wrong = connectorImports
      .filter(
        ({ file, target }) =>
          target.startsWith('src/') || (target.startsWith('connectors/') && !sameConnector(file, target)),
      )
      .map(({ file, target }) => `${file} → ${target}`);
    expect(wrong).to.deep.equal([]);
  });

  it('needs at run time only what is installed without development dependencies', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const names = ['administer', 'distribute', 'organization', 'rotate-keys'];
    const scripts = names.map((name) => `scripts/${name}.ts`);
    const files = [...sources, ...filesBelow('connectors'), ...scripts];
    const wrong = files
      .filter((file) => !file.endsWith('.test.ts') && !file.endsWith('/testing.ts'))
      .flatMap(importsOf)
      .filter(({ target, typeOnly }) => !typeOnly && /^[@a-z]/.test(target) && !isOwnFile(target))
      .filter(({ target }) => !target.startsWith('node:') && !Object.hasOwn(dependencies, packageOf(target)))
      .map(({ file, target }) => `${file} → ${target}`);
    expect(wrong).to.deep.equal([]);
  });

  it('generates files that import nothing', () => {
    // The clients are packages of their own, which nothing here imports.
    const own = filesBelow('generated').filter((file) => !file.startsWith('generated/sdk/'));
    const wrong = own.flatMap(importsOf);
    expect(wrong).to.deep.equal([]);
  });

  it('has its time from one clock', () => {
    const wrong = sources.filter(
      (file) => file.startsWith('src/') && file !== 'src/clock.ts' && RAW_TIME.test(withoutComments(file)),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('means one thing by the name of a type', () => {
    const places = new Map<string, string[]>();
    for (const file of filesBelow('src')) {
      for (const [, name = ''] of readFileSync(join(ROOT, file), 'utf8').matchAll(EXPORTED_TYPE))
        places.set(name, [...(places.get(name) ?? []), file]);
    }
    const doubles = [...places].filter(([, files]) => files.length > 1);
    expect(doubles.map(([name, files]) => `${name}: ${files.join(', ')}`)).to.deep.equal([]);
  });

  it('is built by one function a room', () => {
    const imported = imports.filter(({ file }) => file === 'src/app/index.ts');
    expect(imported.length).to.be.at.most(MOST_IMPORTS_OF_APP);
    const inner = imported.filter(({ target }) =>
      /^src\/(?:accounts|activity|events|instances|resources|api|jobs)\/(?!index)/.test(target),
    );
    expect(inner.filter(({ typeOnly }) => !typeOnly).map(({ target }) => target)).to.deep.equal([]);
  });

  it('sends nothing around the egress', () => {
    const outgoing = sources.filter((file) => !file.startsWith('src/egress/'));
    const wrong = outgoing.filter((file) =>
      /(?<!boss\.)\bfetch\(|https?\.(?:request|get)\(/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(wrong).to.deep.equal([]);
  });
});

describe('the pages of the console', () => {
  const files = filesBelow('console').filter((file) => file !== CONSOLE_BUILD);
  const imports = files.flatMap(importsOf);
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

  it('know each other, the query language, and the types of the API', () => {
    const wrong = imports.filter(({ target, typeOnly }) => {
      if (target.startsWith('generated/')) return !typeOnly;
      return isOwnFile(target) && !IN_BROWSERS.some((known) => known.test(target));
    });
    expect(wrong.map(({ file, target }) => `${file} → ${target}`)).to.deep.equal([]);
  });

  it('are made of packages that the service itself does not need', () => {
    const packages = imports.map(({ target }) => target).filter((target) => !isOwnFile(target));
    expect(packages.filter((target) => !Object.hasOwn(devDependencies, packageOf(target)))).to.deep.equal([]);
  });

  it('are known to nobody but the service, which builds them', () => {
    const known = ['src', 'connectors', 'embedded', 'scripts'].flatMap(filesBelow).flatMap(importsOf);
    const wrong = known.filter(({ target }) => target.startsWith('console/') && target !== CONSOLE_BUILD);
    expect(wrong).to.deep.equal([]);
  });

  it('show texts as texts', () => {
    const unsafe = /dangerouslySetInnerHTML|innerHTML|outerHTML|\beval\(/;
    expect(files.filter((file) => unsafe.test(readFileSync(join(ROOT, file), 'utf8')))).to.deep.equal([]);
  });

  it('have no circle of files', () => {
    expect(findCircle(imports)?.join(' → ')).to.equal(undefined);
  });
});

/** An element has one way to log in, so a provider with two has two folders, of which one imports what both declare from the other. */
const SECOND_FOLDERS: Readonly<Record<string, string>> = {
  fortnoxoauth: 'fortnox',
  jiraoauth: 'jira',
  servicenowoauth: 'servicenow',
};

function sameConnector(file: string, target: string): boolean {
  const [from = '', to] = [file, target].map((path) => path.split('/')[1]);
  return from === to || SECOND_FOLDERS[from] === to;
}

function isOwnFile(target: string): boolean {
  return /^(?:src|console|embedded|connectors|scripts|test|generated)\/|^package\.json$/.test(target);
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
