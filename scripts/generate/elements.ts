import { hubsOf } from '../../src/connector/define.ts';
import type { Connector, ObjectSpec, Objects } from '../../src/connector/index.ts';
import { describeObjects, type ObjectSummary } from '../../src/resources/objects.ts';

/**
 * Returns Markdown that lists every element with its hubs, authentication, objects, events and limits, made from the declarations of the
 * connectors.
 */
export function describeElements(elements: readonly Element[]): string {
  const chapters = elements.flatMap(({ connector, objects }) => ['', ...describeElement(connector, objects)]);
  return ['## All elements', '', ...overview(elements), ...chapters, ''].join('\n');
}

/** A connector with the objects of its demo account. */
export interface Element {
  readonly connector: Connector;
  readonly objects: Objects;
}

const AUTHENTICATION: Readonly<Record<Connector['auth']['type'], string>> = {
  basic: 'name and password',
  custom: 'key or token',
  oauth2: 'OAuth 2.0',
  none: 'none',
};

function overview(elements: readonly Element[]): readonly string[] {
  return [
    '| element | key | id | hub | authentication | objects | webhooks |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...elements.map(({ connector, objects }) => {
      const { name, key, id, auth } = connector;
      const cells = [
        `[${name}](../connectors/${key}/README.md)`,
        `\`${key}\``,
        id,
        hubsOf(connector).join(', '),
        AUTHENTICATION[auth.type],
        typeof connector.objects === 'function' ? "the provider's own" : Object.keys(objects).length,
        webhooksOf(connector),
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  ];
}

function webhooksOf({ webhooks }: Connector): string {
  if (webhooks === undefined) return 'none';
  const signed = webhooks.verify === 'unsigned' ? 'unsigned' : 'signed';
  return webhooks.registration === undefined
    ? `${signed}, entered at the provider`
    : `${signed}, registered automatically`;
}

function describeElement({ name, polls = [] }: Connector, objects: Objects): readonly string[] {
  const followed = polls.length > 0 ? [`Polled by default: ${polls.map(code).join(', ')}.`, ''] : [];
  return [
    `## ${name}`,
    '',
    ...followed,
    '| object | aliases | operations | below a record | events | limits |',
    '| --- | --- | --- | --- | --- | --- |',
    ...describeObjects(objects).map((summary) => describeObject(summary, objects[summary.name])),
  ];
}

function describeObject(
  { name, aliases, operations, children = [], events }: ObjectSummary,
  object?: ObjectSpec,
): string {
  const limits = object === undefined ? [] : limitsOf(object);
  const columns = [[code(name)], aliases.map(code), operations, children.map(code), events, limits];
  return `| ${columns.map((column) => column.join(', ')).join(' | ')} |`;
}

function limitsOf({ list, limits = {}, requiredFilters = [] }: ObjectSpec): readonly string[] {
  const { resultWindow, maxTerms, maxInSize } = limits;
  return [
    ...(list === undefined ? [] : [`${list.maxPageSize} rows per call`]),
    ...(resultWindow === undefined ? [] : [`${resultWindow} rows per query`]),
    ...(maxTerms === undefined ? [] : [`${maxTerms} conditions`]),
    ...(maxInSize === undefined ? [] : [`${maxInSize} values of an IN`]),
    ...requiredFilters.map((name) => `needs ${code(name)}`),
  ];
}

function code(text: string): string {
  return `\`${text}\``;
}
