/**
 * Returns the native names by object name. An object name must fit into a path of our API, so the leading underscores that SAP uses for
 * navigation properties are removed. A navigation property has no object if its name still does not fit or is already used.
 */
export function objectNames(natives: readonly string[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const native of natives) {
    const name = native.replace(/^_+/, '');
    if (/^[A-Za-z0-9]\w{0,127}$/.test(name) && !names.has(name)) names.set(name, native);
  }
  return names;
}
