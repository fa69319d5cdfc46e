import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config, Connector, FieldSpec, ObjectSpec, Objects, Operator } from '../../src/connector/index.ts';
import { createRegistry, loadConnectors, OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { listen } from '../../src/connector/simulators/server.ts';
import { connect } from '../../suite/testing.ts';

/** What of a filter each provider answers itself, as Markdown made from the declarations of the connectors. */
export async function describePushdown(): Promise<string> {
  const { server, port } = await listen({ port: 0, sources: { folders: [OWN_CONNECTORS] } });
  const simulatorsUrl = `http://127.0.0.1:${port}`;
  try {
    const { connectors } = createRegistry(await loadConnectors({ folders: [OWN_CONNECTORS] }));
    const chapters = [];
    for (const connector of connectors)
      chapters.push(describeElement(connector, await findObjects(connector, simulatorsUrl)));
    return [...INTRODUCTION, ...chapters.flat(), ''].join('\n');
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Fields that an account brings itself are shown as the simulator has them. */
async function findObjects(connector: Connector, simulatorsUrl: string): Promise<Objects> {
  const { configuration, accessToken } = await readDemo(connector.key);
  const tokens = accessToken === undefined ? {} : { 'oauth.user.token': accessToken };
  const { objects } = await connect(connector, { config: { ...configuration, ...tokens }, simulatorsUrl }).discover();
  return objects;
}

interface Demo {
  readonly configuration: Config;
  /** Where the login is by OAuth: one that is good without a login. */
  readonly accessToken: string | undefined;
}

async function readDemo(key: string): Promise<Demo> {
  const file = pathToFileURL(join(OWN_CONNECTORS, key, 'simulator.ts')).href;
  const module: { readonly DEMO_CONFIGURATION?: Config; readonly DEMO_ACCESS_TOKEN?: string } = await import(file);
  const configuration = module.DEMO_CONFIGURATION;
  if (configuration === undefined) throw new Error(`The simulator of ${key} exports no DEMO_CONFIGURATION.`);
  return { configuration, accessToken: module.DEMO_ACCESS_TOKEN };
}

const INTRODUCTION = [
  '# What each provider answers itself',
  '',
  'Every filter works on every object; this is who does the work. ● the provider, exactly; ○ the provider, perhaps with more',
  'rows than meant, which are checked again here; blank: checked here. The fields are those of the demo accounts on the',
  'simulators; `GET /objects/{objectName}/metadata` says the same of yours.',
  '',
];

const SHAPES: Readonly<Record<NonNullable<ObjectSpec['shape']>['kind'], string>> = {
  none: 'takes no filter',
  any: 'takes AND and OR in any nesting',
  and: 'takes AND only',
  dnf: 'takes an OR of ANDs',
  cnf: 'takes an AND of ORs',
  'and-xor-or': 'takes either ANDs or ORs, never both',
};

function describeElement(connector: Connector, objects: Objects): readonly string[] {
  return [
    `## ${connector.name}`,
    '',
    ...Object.entries(objects).flatMap(([name, object]) => describeObject(name, object)),
  ];
}

function describeObject(name: string, object: ObjectSpec): readonly string[] {
  const children = Object.entries(object.children ?? {});
  const table = object.list === undefined ? [] : describeFields(name, object);
  return [...table, ...children.flatMap(([child, spec]) => describeObject(`${name}/{id}/${child}`, spec))];
}

/** Operators that are nearly always declared together share a column. */
const COLUMNS: readonly (readonly [string, readonly Operator[]])[] = [
  ['=', ['=']],
  ['!=', ['!=']],
  ['< <=', ['<', '<=']],
  ['> >=', ['>', '>=']],
  ['IN', ['IN']],
  ['NOT IN', ['NOT IN']],
  ['LIKE', ['LIKE']],
  ['NOT LIKE', ['NOT LIKE']],
  ['IS NULL', ['IS NULL', 'IS NOT NULL']],
];

function describeFields(name: string, object: ObjectSpec): readonly string[] {
  const filterable = Object.values(object.fields).some(({ filter }) => Object.keys(filter ?? {}).length > 0);
  const shape = SHAPES[object.shape?.kind ?? (object.translator === undefined ? 'none' : 'and')];
  const parameters = Object.entries(object.parameters ?? {});
  const columns = [...COLUMNS.map(([title]) => title), 'sort'];
  return [
    `### ${name}`,
    '',
    filterable ? `The provider ${shape}.` : 'The provider filters nothing; all of it is checked here.',
    '',
    ...parameters.map(([parameter, { type, description }]) => `- parameter \`${parameter}\` (${type}): ${description}`),
    ...(parameters.length > 0 ? [''] : []),
    `| field | type | ${columns.map((title) => (title === 'sort' ? title : `\`${title}\``)).join(' | ')} |`,
    `| --- | --- |${columns.map(() => ' :-: |').join('')}`,
    ...Object.entries(object.fields).map(([field, spec]) => describeField(field, spec)),
    '',
  ];
}

const MARKS = { exact: '●', superset: '○' } as const;

function describeField(name: string, spec: FieldSpec): string {
  const marks = COLUMNS.map(([, operators]) => {
    const found = operators
      .map((operator) => spec.filter?.[operator])
      .map((exactness) => (exactness ? MARKS[exactness] : ''));
    return [...new Set(found)].join(' / ');
  });
  const collation = spec.type === 'string' && spec.collation === 'ci' ? ', ci' : '';
  return `| \`${name}\` | ${spec.type}${collation} | ${marks.join(' | ')} | ${spec.sortable === true ? '●' : ''} |`;
}
