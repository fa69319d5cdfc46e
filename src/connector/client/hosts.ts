/** Whether a host (with its port, unless it is the scheme's own) is one of the patterns: `host[:port]`, or `*.` for exactly one label. */
export function matchesHost(host: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(host, pattern.toLowerCase()));
}

function matchesPattern(host: string, pattern: string): boolean {
  if (!pattern.startsWith('*.')) return host === pattern;
  const suffix = pattern.slice(1);
  const label = host.slice(0, -suffix.length);
  return host.endsWith(suffix) && label !== '' && !label.includes('.');
}
