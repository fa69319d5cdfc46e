/** The functions that the engine calls in the sandbox, in this order. */
export type Inside = readonly [
  /** Runs a module of a library and keeps what it exports. */
  define: (name: string, run: ModuleFunction) => void,
  /** Sets the script. `mutable` has one character for each parameter: `1` for those that the script may change. */
  install: (script: (...values: unknown[]) => unknown, mutable: string) => void,
  /** Adds an argument, as JSON. Returns the reason when it cannot be parsed. */
  load: (text: string) => string,
  /** Calls the script with the arguments and returns the state. */
  run: () => string,
  /** Returns the state: a member of `STATES`, or an empty text when the script has not called `done`. */
  settle: () => string,
  /** Returns the text that belongs to the state. */
  take: () => string,
  /** Returns a text for anything that was thrown. */
  describe: (error: unknown) => string,
];

/** A module of CommonJS. */
type ModuleFunction = (module: { exports: unknown }, exports: unknown, require: (name: string) => unknown) => void;

/** States of a call: `done` was called with a value or without one, or the script failed. The prelude has them in its own text. */
export const STATES = { done: '=', empty: '-', failed: '!' } as const;

/** Requests of the prelude that are no JSON. `returned` is followed by a number of characters. */
export const NOTICES = { returning: 'returning', returned: 'returned ' } as const;

/**
 * Prepares the global object of the sandbox. QuickJS evaluates the text of this function, so it can use nothing from outside of itself.
 * Scripts can change every built-in object, therefore it keeps the functions that it needs afterwards.
 * @param native the only function of the host; it takes a JSON array and returns one: whether it failed, and a text
 */
export function prelude(native: (request: string) => string): Inside {
  const { parse, stringify } = JSON;
  const { freeze, keys, create, defineProperty } = Object;
  const { apply } = Reflect;
  const { then } = Promise.prototype;
  const { isArray } = Array;
  const { slice } = String.prototype;
  const { join } = Array.prototype;
  const NativePromise = Promise;
  const NativeError = Error;
  const toText = String;
  const LONGEST_REASON = 1000;
  const LONGEST_LINE = 16_384;
  /** The time in which a shorter result is printed does not matter. */
  const LARGE_RESULT = 65_536;

  const modules: Record<string, unknown> = create(null);
  let script: (...values: unknown[]) => unknown = () => undefined;
  let mutable = '';
  const values: unknown[] = [];
  let state = '';
  let text = '';

  function ask(...request: readonly unknown[]): string {
    const reply = parse(native(stringify(request)));
    if (reply[0]) throw new NativeError(reply[1]);
    return reply[1];
  }

  const cut = (text: string, length: number): string => apply(slice, text, [0, length]);

  function deepFreeze(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (isArray(value)) for (let index = 0; index < value.length; index++) deepFreeze(value[index]);
    else {
      const members = value as Record<string, unknown>;
      const names = keys(members);
      for (let index = 0; index < names.length; index++) deepFreeze(members[names[index] as string]);
    }
    return freeze(value);
  }

  function describe(error: unknown): string {
    try {
      return cut(error instanceof NativeError ? describeError(error) : show(error), LONGEST_REASON);
    } catch {
      return 'The script threw a value that has no text';
    }
  }

  function describeError(error: Error): string {
    const line = /script:(\d+)/.exec(toText(error.stack))?.[1];
    return `${error.name}: ${error.message}${line === undefined ? '' : ` (line ${line})`}`;
  }

  function show(value: unknown): string {
    if (typeof value === 'string') return value;
    if (typeof value === 'function') return `[Function: ${value.name}]`;
    if (value instanceof NativeError) return `${value.name}: ${value.message}`;
    if (typeof value !== 'object' || value === null) return toText(value);
    return stringify(value) ?? toText(value);
  }

  function showSafely(value: unknown): string {
    try {
      return show(value);
    } catch {
      return '[Object]';
    }
  }

  function log(...values: readonly unknown[]): void {
    let line = '';
    for (let index = 0; index < values.length && line.length < LONGEST_LINE; index++)
      line += (index === 0 ? '' : ' ') + cut(showSafely(values[index]), LONGEST_LINE);
    ask('log', cut(line, LONGEST_LINE));
  }

  function done(value?: unknown): void {
    if (state !== '') return;
    native('returning');
    const printed = stringify(value);
    // What a value's own code does while it is printed may call this function again.
    if (state !== '') return;
    text = printed ?? '';
    state = printed === undefined ? '-' : '=';
    if (text.length > LARGE_RESULT) native(`returned ${text.length}`);
  }

  function fail(error: unknown): void {
    if (state !== '') return;
    text = describe(error);
    state = '!';
  }

  function requireLibrary(name: unknown): unknown {
    const known = typeof name === 'string' && name[0] !== '.' && name in modules;
    if (!known) {
      const shown = cut(showSafely(name), 100);
      throw new NativeError(
        `Cannot load '${shown}'. Scripts can load 'lodash', 'lodash/fp', 'moment' and 'util', by a name that is written out: require('lodash')`,
      );
    }
    return modules[name];
  }

  function define(name: string, run: ModuleFunction): void {
    const module = { exports: {} };
    apply(run, undefined, [module, module.exports, (wanted: string) => modules[wanted]]);
    modules[name] = module.exports;
  }

  function install(given: (...values: unknown[]) => unknown, flags: string): void {
    script = given;
    mutable = flags;
  }

  function load(json: string): string {
    try {
      const value = parse(json);
      values[values.length] = mutable[values.length] === '1' ? value : deepFreeze(value);
      return '';
    } catch (error) {
      return describe(error);
    }
  }

  function run(): string {
    try {
      values[values.length] = done;
      const returned = apply(script, undefined, values);
      if (returned instanceof NativePromise) apply(then, returned, [undefined, fail]);
    } catch (error) {
      // Also after a call of `done`.
      text = describe(error);
      state = '!';
    }
    return state;
  }

  const CE: Record<string, unknown> = {};
  const orUndefined = (text: string) => (text === '' ? undefined : text);
  const hmac = (algorithm: unknown) => (encoding: unknown) => (secret: unknown, text: unknown) =>
    ask('hmac', toText(algorithm), toText(encoding), toText(secret), toText(text));
  CE.randomString = () => ask('randomString');
  CE.randomEmail = () => `${ask('randomString')}@example.com`;
  CE.md5 = (text: unknown) => ask('md5', toText(text));
  CE.b64 = (text: unknown) => ask('b64', toText(text));
  CE.decode64 = (text: unknown) => ask('decode64', toText(text));
  CE.hmac = hmac;
  for (const algorithm of ['Md5', 'Sha1', 'Sha256', 'Sha512'])
    for (const encoding of ['Hex', 'Base64'])
      CE[`hmac${algorithm}${encoding}`] = hmac(algorithm.toLowerCase())(encoding.toLowerCase());
  for (const name of ['currencyCode', 'currencySymbol', 'iso2CountryCode', 'iso3CountryCode'])
    CE[name] = (text: unknown) => orUndefined(ask(name, toText(text)));

  const console: Record<string, unknown> = {};
  for (const name of ['log', 'info', 'warn', 'error', 'debug']) console[name] = log;

  const toAddresses = (to: unknown) => (isArray(to) ? apply(join, to, [',']) : toText(to));
  const notify: Record<string, unknown> = {};
  notify.email = (to: unknown, subject: unknown, body: unknown) => {
    ask('email', toAddresses(to), toText(subject ?? ''), typeof body === 'string' ? body : show(body ?? ''));
  };

  const globals: Record<string, unknown> = { CE, console, notify, require: requireLibrary };
  for (const name of keys(globals))
    defineProperty(globalThis, name, { value: globals[name], writable: true, configurable: true });
  Math.random = () => Number(ask('random'));

  return [define, install, load, run, () => state, () => text, describe];
}
