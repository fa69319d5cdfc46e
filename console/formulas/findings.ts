import type { Schemas } from '../api.ts';
import type { NodeKey } from './flow.ts';

export type Finding = Schemas['FormulaFinding'];

/** Messages by the member of a step that they are about: `name`, `onSuccess`, `properties.api`. The empty key stands for the whole step. */
export type Messages = ReadonlyMap<string, readonly string[]>;

export const NO_MESSAGES: Messages = new Map();

/** The findings of a formula, grouped by the part of the formula that they are about. */
export interface PlacedFindings {
  readonly byNode: ReadonlyMap<NodeKey, readonly Finding[]>;
  /** Findings about variables, by the index of the variable from 0. */
  readonly byVariable: ReadonlyMap<number, readonly Finding[]>;
  readonly others: readonly Finding[];
}

/** Returns the findings of a formula by the box of the graph that they are about. */
export function placeFindings(findings: readonly Finding[]): PlacedFindings {
  const placed = findings.map((finding) => ({ finding, place: readPlace(finding.path) }));
  const by = (list: string) =>
    new Map(
      [
        ...Map.groupBy(
          placed.filter(({ place }) => place?.list === list),
          ({ place }) => place?.index ?? 0,
        ),
      ].map(([index, all]) => [index, all.map(({ finding }) => finding)]),
    );
  const steps = [...by('steps')].map(([index, all]): [NodeKey, readonly Finding[]] => [index + 1, all]);
  return {
    byNode: new Map([...by('triggers'), ...steps]),
    byVariable: by('configuration'),
    others: placed.filter(({ place }) => place === undefined).map(({ finding }) => finding),
  };
}

function readPlace(path: string) {
  const [, list = '', index] = /^\/(steps|triggers|configuration)\/(\d+)(?:\/|$)/.exec(path) ?? [];
  return index === undefined ? undefined : { list, index: Number(index) };
}

/** Returns the messages of findings about one step, by its members. */
export function messagesOf(findings: readonly Finding[]): Messages {
  return group(findings.map(({ path, message }) => ({ member: memberOf(path.split('/').slice(3)), message })));
}

interface Faulty {
  readonly details?: NonNullable<Schemas['ErrorResponse']['details']>;
}

/** Returns the faults in a response of the service, by the members of the step that was sent. @param root the path of the step in the body */
export function readFaults({ details = [] }: Faulty, root: string): Messages {
  return group(
    details.flatMap(({ path = '', message }) =>
      path === root || path.startsWith(`${root}/`)
        ? [{ member: memberOf(path.slice(root.length).split('/').slice(1)), message }]
        : [],
    ),
  );
}

function memberOf([first = '', second]: readonly string[]): string {
  return first === 'properties' && second !== undefined
    ? `properties.${second.replaceAll('~1', '/').replaceAll('~0', '~')}`
    : first;
}

function group(all: readonly { readonly member: string; readonly message: string }[]): Messages {
  return new Map(
    [...Map.groupBy(all, ({ member }) => member)].map(([member, found]) => [
      member,
      [...new Set(found.map(({ message }) => message))],
    ]),
  );
}

/** Returns the position in a text that a message names by line and column. Undefined: it names none. */
export function findPosition(text: string, message: string): number | undefined {
  const [, line, column] = /\bline (\d+), column (\d+)/i.exec(message) ?? [];
  if (line === undefined || column === undefined) return undefined;
  const lines = text.split('\n').slice(0, Number(line) - 1);
  const start = lines.reduce((sum, each) => sum + each.length + 1, 0);
  return Math.min(text.length, start + Number(column) - 1);
}

/** Returns the findings about one box of the graph. */
export function findingsAt(findings: readonly Finding[], key: NodeKey): readonly Finding[] {
  return placeFindings(findings).byNode.get(key) ?? [];
}
