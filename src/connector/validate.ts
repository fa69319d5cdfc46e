import { matchesHost } from './client/url.ts';
import type { Config, Connector } from './contract.ts';
import { hubsOf } from './define.ts';
import { MARK_COLOURS, MARK_SHAPES } from './mark.ts';
import { type Form, memberProblems, when } from './problems.ts';
import { oauthProblems } from './validate-oauth.ts';
import { findObjectProblems } from './validate-objects.ts';
import { webhookProblems } from './validate-webhooks.ts';

/** The error of connectors that must not be used. `problems` is the complete list. */
export class ConnectorError extends Error {
  override readonly name = 'ConnectorError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`A connector is not usable:\n${problems.map((problem) => `- ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Returns every problem of a set of connectors. Each text begins with the connector's key. */
export function findProblems(connectors: readonly Connector[]): readonly string[] {
  return [...connectors.flatMap(connectorProblems), ...doubles(connectors, 'key'), ...doubles(connectors, 'id')];
}

function doubles(connectors: readonly Connector[], property: 'key' | 'id'): readonly string[] {
  const values = connectors.map((connector) => connector[property]);
  return connectors.flatMap(({ key, [property]: value }, index) =>
    when(values.indexOf(value) !== index, `${key}: the ${property} ${value} belongs to another connector already`),
  );
}

function connectorProblems(connector: Connector): readonly string[] {
  const problems = memberProblems(connector, CONNECTOR_MEMBERS);
  // The other checks rely on these members.
  const all = problems.length > 0 ? problems : declarationProblems(connector);
  return all.map((problem) => `${connector.key}: ${problem}`);
}

/** The members that a connector in JavaScript may lack, because no compiler checked it. */
const CONNECTOR_MEMBERS: Readonly<Partial<Record<keyof Connector, readonly Form[]>>> = {
  key: ['text'],
  id: ['number'],
  name: ['text'],
  description: ['text'],
  hub: ['text'],
  auth: ['object'],
  configuration: ['list'],
  baseUrl: ['function'],
  hosts: ['list', 'function'],
  objects: ['object', 'function'],
  probe: ['object'],
};

function declarationProblems(connector: Connector): readonly string[] {
  const problems = [
    ...identityProblems(connector),
    ...catalogueProblems(connector),
    ...configurationProblems(connector),
    ...hostProblems(connector),
    ...oauthProblems(connector),
    ...exchangeProblems(connector),
    ...webhookProblems(connector),
  ];
  const objects =
    typeof connector.objects === 'function'
      ? []
      : [
          ...when(
            connector.operations !== undefined,
            "'operations' is only for discovered objects; the declared objects contain them",
          ),
          ...findObjectProblems(connector.objects),
        ];
  return [...problems, ...objects];
}

function identityProblems(connector: Connector): readonly string[] {
  return [
    ...when(
      !/^[a-z][a-z0-9]*$/.test(connector.key),
      'the key is lower-case letters and digits, beginning with a letter',
    ),
    ...when(connector.key === 'keys', "the key 'keys' belongs to the platform: GET /elements/keys lists all keys"),
    ...when(!Number.isSafeInteger(connector.id) || connector.id < 1, 'the id is a whole number from 1'),
    ...when(connector.name.trim() === '', 'the name is empty'),
    ...markProblems(connector),
    ...when(
      hubsOf(connector).some((hub) => hub.trim() === ''),
      'a hub is empty',
    ),
    ...when(new Set(hubsOf(connector)).size < hubsOf(connector).length, 'it is in a hub twice'),
  ];
}

/** Connectors in JavaScript were not checked by a compiler. */
function markProblems({ mark }: Connector): readonly string[] {
  if (mark === undefined) return [];
  const given = Object(mark);
  return Object.entries({ shape: MARK_SHAPES, colour: MARK_COLOURS })
    .filter(([part, known]) => !Object.hasOwn(known, given[part]))
    .map(([part, known]) => `the ${part} '${given[part]}' of its mark is not one of ${Object.keys(known).join(', ')}`);
}

/** Keys that have a meaning of the platform for every element. */
const RESERVED_KEYS = /^(?:simulator$|authentication\.type$|oauth\.)/;

function configurationProblems({ configuration }: Connector): readonly string[] {
  const keys = configuration.map((field) => field.key);
  return configuration.flatMap((field, index) => [
    ...when(keys.indexOf(field.key) !== index, `the configuration key '${field.key}' is declared twice`),
    ...when(RESERVED_KEYS.test(field.key), `the configuration key '${field.key}' belongs to the platform`),
    ...when(field.required === true && field.default !== undefined, `'${field.key}' is required and has a default`),
  ]);
}

/** Neither key of an exchange may be required or have a default, because each of them is enough. */
function exchangeProblems({ auth, configuration }: Connector): readonly string[] {
  if (auth.type !== 'custom' || auth.exchange === undefined) return [];
  const { code, token } = auth.exchange;
  const isFit = (key: string) =>
    configuration.some(
      (field) =>
        field.key === key &&
        field.type === 'string' &&
        field.secret === true &&
        field.required !== true &&
        field.default === undefined,
    );
  return [
    ...when(code === token, `its exchange returns the '${token}' that it accepts`),
    ...[code, token]
      .filter((key) => !isFit(key))
      .map((key) => `the key '${key}' of its exchange is not a secret text that is neither required nor has a default`),
  ];
}

function hostProblems({ hosts, baseUrl }: Connector): readonly string[] {
  if (typeof hosts === 'function') return [];
  const bad = hosts.filter((host) => !/^(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?$/.test(host));
  if (hosts.length === 0) return ['it names no host'];
  if (bad.length > 0) return bad.map((host) => `'${host}' is not a host, as in api.example.com or *.example.com`);
  return addressProblems(baseUrl, hosts);
}

/**
 * Checks a base address that depends on no setting, because it would be wrong for every instance. An address that reads settings is checked
 * for each instance.
 */
function addressProblems(baseUrl: Connector['baseUrl'], hosts: readonly string[]): readonly string[] {
  let readsSettings = false;
  const noSettings = <Result>(response: Result) => {
    return () => {
      readsSettings = true;
      return response;
    };
  };
  const traps = { get: noSettings(undefined), has: noSettings(false), ownKeys: noSettings([]) };
  const config = new Proxy<Config>({}, traps);
  try {
    const text = baseUrl(config);
    if (readsSettings) return [];
    const host = URL.parse(text)?.host;
    if (host === undefined) return [`its baseUrl '${text}' is not an address, as in https://api.example.com/v1`];
    return when(!matchesHost(host, hosts), `its baseUrl leads to ${host}, which is not one of its hosts`);
  } catch (error) {
    // The error comes from settings that are missing here.
    if (readsSettings) return [];
    return [`its baseUrl fails: ${error instanceof Error ? error.message : String(error)}`];
  }
}

/** Returns the problems of the texts for people: links to documentation, and steps of set-ups. */
function catalogueProblems({ documentation = [], configuration, auth }: Connector): readonly string[] {
  const setups = [
    ...configuration.map(({ key, setup }) => [`'${key}'`, setup] as const),
    ...(auth.type === 'oauth2' ? [['the application', auth.setup] as const] : []),
  ];
  return [
    ...documentation.flatMap(({ title, url }) => [
      ...when(title.trim() === '', `the page ${url} of its documentation has no title`),
      ...when(!isPublicPage(url), `'${url}' of its documentation is not an address that begins with https://`),
    ]),
    ...setups.flatMap(([what, setup]) => [
      ...when(setup?.length === 0, `the set-up of ${what} has no steps: leave it out`),
      ...when(setup?.some((step) => step.trim() === '') === true, `a step in the set-up of ${what} is empty`),
    ]),
  ];
}

/** Links must be https, and without a name and password. */
function isPublicPage(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
}
