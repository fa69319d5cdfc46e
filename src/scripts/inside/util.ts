/**
 * The part of Node's `util` that is independent of the host. QuickJS evaluates the text of this function, so it can use nothing from
 * outside of itself.
 */
export function utilModule(): Record<string, unknown> {
  const DEEPEST = 2;
  const tagOf = (value: unknown) => Object.prototype.toString.call(value).slice(8, -1);
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

  function inspect(value: unknown, options?: { depth?: number | null }): string {
    const deepest = options?.depth === null ? Number.POSITIVE_INFINITY : (options?.depth ?? DEEPEST);
    return inspectAt(value, deepest, []);
  }

  function inspectAt(value: unknown, left: number, above: readonly object[]): string {
    if (typeof value === 'string') return `'${value.replaceAll("'", "\\'")}'`;
    if (typeof value === 'function') return value.name === '' ? '[Function (anonymous)]' : `[Function: ${value.name}]`;
    if (typeof value === 'bigint') return `${value}n`;
    if (!isObject(value)) return String(value);
    if (value instanceof Error) return `[${value}]`;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (above.includes(value)) return '[Circular *1]';
    if (left < 0) return Array.isArray(value) ? '[Array]' : '[Object]';
    return inspectMembers(value, left - 1, [...above, value]);
  }

  function inspectMembers(value: object, left: number, above: readonly object[]): string {
    const show = (member: unknown) => inspectAt(member, left, above);
    if (Array.isArray(value)) return value.length === 0 ? '[]' : `[ ${value.map(show).join(', ')} ]`;
    if (value instanceof Map)
      return `Map(${value.size}) { ${[...value].map(([key, member]) => `${show(key)} => ${show(member)}`).join(', ')} }`;
    if (value instanceof Set) return `Set(${value.size}) { ${[...value].map(show).join(', ')} }`;
    const members = Object.entries(value).map(
      ([name, member]) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : inspectAt(name, 0, [])}: ${show(member)}`,
    );
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }

  const FORMATS: Record<string, (value: unknown) => string> = {
    s: (value) => (isObject(value) ? inspect(value, { depth: 0 }) : String(value)),
    d: (value) => String(isObject(value) ? Number.NaN : Number(value)),
    i: (value) => String(isObject(value) ? Number.NaN : Number.parseInt(String(value), 10)),
    f: (value) => String(Number.parseFloat(String(value))),
    j: (value) => JSON.stringify(value),
    o: (value) => inspect(value, { depth: 4 }),
    O: (value) => inspect(value, { depth: 4 }),
    c: () => '',
  };

  function format(...given: readonly unknown[]): string {
    const [first, ...rest] = given;
    if (typeof first !== 'string') return given.map((value) => textOf(value)).join(' ');
    let used = 0;
    const text = first.replace(/%([sdifjoOc%])/g, (whole, kind: string) => {
      if (kind === '%') return '%';
      return used < rest.length ? (FORMATS[kind]?.(rest[used++]) ?? whole) : whole;
    });
    return [text, ...rest.slice(used).map((value) => textOf(value))].join(' ');
  }

  const textOf = (value: unknown) => (typeof value === 'string' ? value : inspect(value));

  function isDeepStrictEqual(one: unknown, other: unknown): boolean {
    if (Object.is(one, other)) return true;
    if (!isObject(one) || !isObject(other) || tagOf(one) !== tagOf(other)) return false;
    if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
    if (one instanceof Date && other instanceof Date) return Object.is(one.getTime(), other.getTime());
    if (one instanceof RegExp && other instanceof RegExp) return String(one) === String(other);
    if (one instanceof Map && other instanceof Map) return isDeepStrictEqual([...one], [...other]);
    if (one instanceof Set && other instanceof Set) return isDeepStrictEqual([...one], [...other]);
    const [names, others] = [Object.keys(one), Object.keys(other)];
    return (
      names.length === others.length &&
      names.every(
        (name) => Object.hasOwn(other, name) && isDeepStrictEqual(Reflect.get(one, name), Reflect.get(other, name)),
      )
    );
  }

  function inherits(child: { prototype: object; super_?: unknown }, parent: { prototype: object }): void {
    child.super_ = parent;
    Object.setPrototypeOf(child.prototype, parent.prototype);
  }

  function promisify(call: (...given: unknown[]) => unknown): (...given: unknown[]) => Promise<unknown> {
    return (...given) =>
      new Promise((resolve, reject) => {
        call(...given, (error: unknown, value: unknown) => (error ? reject(error) : resolve(value)));
      });
  }

  const types = {
    isDate: (value: unknown) => value instanceof Date,
    isRegExp: (value: unknown) => value instanceof RegExp,
    isMap: (value: unknown) => value instanceof Map,
    isSet: (value: unknown) => value instanceof Set,
    isPromise: (value: unknown) => value instanceof Promise,
    isNativeError: (value: unknown) => value instanceof Error,
  };
  return {
    ...{ format, inspect, isDeepStrictEqual, inherits, promisify, types },
    deprecate: (call: unknown) => call,
    isArray: Array.isArray,
    isBoolean: (value: unknown) => typeof value === 'boolean',
    isDate: types.isDate,
    isError: types.isNativeError,
    isFunction: (value: unknown) => typeof value === 'function',
    isNull: (value: unknown) => value === null,
    isNullOrUndefined: (value: unknown) => value === null || value === undefined,
    isNumber: (value: unknown) => typeof value === 'number',
    isObject,
    isPrimitive: (value: unknown) => !isObject(value) && typeof value !== 'function',
    isRegExp: types.isRegExp,
    isString: (value: unknown) => typeof value === 'string',
    isUndefined: (value: unknown) => value === undefined,
  };
}
