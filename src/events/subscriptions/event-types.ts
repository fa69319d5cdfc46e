/** Whether one of the patterns is the type, or begins it: `employees.*` stands for all types that begin with `employees.`. */
export function wantsType(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : pattern === type));
}
