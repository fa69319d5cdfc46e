import service from '../../package.json' with { type: 'json' };
import { type Choices, titleOf } from './choices.ts';

/** The source of `suite.test.ts`. */
export function suiteSource({ key }: Choices): string {
  return `import { describeConnector } from '#connector/suite';
import ${key} from './index.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(${key}, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: {
    notes: {
      create: (number) => ({
        title: \`Note \${number}\`,
        status: 'open',
        size: number,
        day: '2024-02-29',
        remark: "It's new",
      }),
    },
  },
});
`;
}

export function readmeText({ key, auth }: Choices): string {
  const title = titleOf(key);
  return `# ${title}

Notes of an account at ${title}.

## Set up

${SETTINGS[auth]}

## Limits

What the provider bounds: rows per page, calls per minute, how old a token gets.

## Sources

Every fact that the connector rests on, with the page that says so. What rests on memory is marked as such.
`;
}

const SETTINGS: Readonly<Record<Choices['auth'], string>> = {
  basic: `| setting | is |
| --- | --- |
| \`username\` | the user that the account is seen as |
| \`password\` | the password of that user |`,
  key: `| setting | is |
| --- | --- |
| \`api.key\` | made under Settings → API keys |`,
  oauth2: `Register an application at the provider; its client id is \`oauth.api.key\`, its client secret \`oauth.api.secret\`, and its
redirect URI \`oauth.callback.url\`. Then log in by \`GET /elements/{key}/oauth/url\`.`,
};

/**
 * The package runs on the Node.js of the service, whichever one the machine has, and uses the same tools.
 *
 * @param causeway path from the folder of the package to Causeway
 */
export function packageText({ key }: Choices, causeway: string): string {
  const modules = ['connector', 'connector/simulator', 'connector/suite', 'connector/testing'];
  return `${JSON.stringify(
    {
      name: `causeway-connector-${key}`,
      version: '0.1.0',
      description: `${titleOf(key)} for Causeway`,
      type: 'module',
      engines: { node: service.engines.node },
      exports: { '.': './index.ts', './simulator': './simulator.ts', './package.json': './package.json' },
      imports: Object.fromEntries(modules.map((module) => [`#${module}`, `causeway/${module}`])),
      files: ['*.ts', '!*.test.ts', 'README.md'],
      scripts: { test: 'mocha', 'test:all': 'CONFORMANCE=full mocha', check: 'tsc' },
      devDependencies: {
        '@types/mocha': service.devDependencies['@types/mocha'],
        '@types/node': service.devDependencies['@types/node'],
        causeway: `file:${causeway}`,
        mocha: service.devDependencies.mocha,
        node: service.optionalDependencies.node,
        typescript: service.devDependencies['typescript-7'].replace('npm:typescript@', ''),
      },
      allowScripts: { node: true },
    },
    undefined,
    2,
  )}\n`;
}

export const MOCHA_TEXT = `${JSON.stringify({ spec: ['*.test.ts'], timeout: 60_000, slow: 1000 }, undefined, 2)}\n`;

export const TYPESCRIPT_TEXT = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'es2024',
      lib: ['esnext'],
      module: 'nodenext',
      types: ['node', 'mocha'],
      noEmit: true,
      strict: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      resolveJsonModule: true,
    },
    include: ['*.ts'],
  },
  undefined,
  2,
)}\n`;
