/**
 * Object name → native name. Names fit a path of ours: without the underscores that SAP puts in front of navigation properties. A name
 * that still does not fit, or is taken, has no object.
 */
export function objectNames(natives: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const native of natives) {
    const name = native.replace(/^_+/, '');
    if (/^[A-Za-z0-9]\w{0,127}$/.test(name) && !names.has(name)) names.set(name, native);
  }
  return names;
}
