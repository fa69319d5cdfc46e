import service from '../../package.json' with { type: 'json' };
import { type Choices, idOf, titleOf } from './choices.ts';

/** Returns the source of `suite.test.ts`. */
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

| | |
| --- | --- |
| connects to | the notes of an account at ${title} |
| key, id | \`${key}\`, ${idOf(key)} |
| hub | \`general\` |
| authentication | ${AUTHENTICATION[auth]} |

## Credentials

${SETTINGS[auth]}

## Objects

The objects with their operations, and rules for their fields.

## Filters

What the provider filters and sorts, and the reason for each \`superset\`.

## Limits

Rows per page, calls per minute, and the lifetime of tokens.

## Sources

The page of the provider for each fact.

## Not documented

What you assumed, because no page says it.

## Simulator

The account and its credentials.
`;
}

const AUTHENTICATION: Readonly<Record<Choices['auth'], string>> = {
  basic: 'name and password',
  key: 'an API key',
  oauth2: 'OAuth 2.0',
};

const SETTINGS: Readonly<Record<Choices['auth'], string>> = {
  basic: `| setting | value |
| --- | --- |
| \`username\` | The name of the user. |
| \`password\` | Its password. |`,
  key: `| setting | value |
| --- | --- |
| \`api.key\` | An API key. Create it under Settings → API keys. |`,
  oauth2: `| setting | value |
| --- | --- |
| \`oauth.api.key\`, \`oauth.api.secret\` | Client id and secret of the application that you registered at the provider. |
| \`oauth.callback.url\` | Its redirect URI. |

Then log in by \`GET /elements/{key}/oauth/url\`.`,
};

/**
 * Returns the `package.json` of a connector outside this repository. It runs on the Node.js of Causeway, whatever version the machine has,
 * and uses the same tools.
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
