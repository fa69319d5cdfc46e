/** What a subscription is made with: events of every type. */
export const EVERY_TYPE: readonly string[] = ['*'];

/** Whether one of the patterns is the type, or begins it: `employees.*` stands for all types that begin with `employees.`. */
export function wantsType(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type));
}
