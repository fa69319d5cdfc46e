import { relative } from 'node:path';
import { getLineColLocation, type NormalizedProblem } from '@redocly/openapi-core';

/** Describes a problem on one line: file, line, rule and message. */
export function describeProblem(problem: NormalizedProblem, root: string): string {
  return `${problem.severity} ${whereIs(problem, root)} ${problem.ruleId}: ${problem.message}`;
}

function whereIs({ location }: NormalizedProblem, root: string): string {
  const [first] = location;
  if (!first) return 'spec';
  const { start } = getLineColLocation(first);
  return `${relative(root, first.source.absoluteRef)}:${start.line}:${start.col}`;
}
