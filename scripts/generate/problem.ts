import { relative } from 'node:path';
import { getLineColLocation, type NormalizedProblem } from '@redocly/openapi-core';

/** One line for people: file, line, rule and what it says. */
export function describeProblem(problem: NormalizedProblem, root: string): string {
  return `${problem.severity} ${whereIs(problem, root)} ${problem.ruleId}: ${problem.message}`;
}

function whereIs({ location }: NormalizedProblem, root: string): string {
  const [first] = location;
  if (!first) return 'spec';
  const { start } = getLineColLocation(first);
  return `${relative(root, first.source.absoluteRef)}:${start.line}:${start.col}`;
}
