import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const PAGE_BYTES = 65_536;
/** The memory that the module requires, of which the stack of C takes 5 MB. */
export const INITIAL_BYTES = 16 * 1024 * 1024;
/** Depth of calls in a script. QuickJS checks it itself; deeper recursion in C ends in the limit of the thread's own stack. */
const STACK_BYTES = 256 * 1024;
/** The id by which QuickJS calls the one function of the host. */
const NATIVE_ID = 1;
const ADDRESS_BYTES = 4;
/** The flags of QuickJS for a context with everything that the language defines, and for code that is no module. */
const ALL_INTRINSICS = 0;
const AS_SCRIPT = 0;
const GLOBAL_CODE = 0;

const encoder = new TextEncoder();

/** An address in the memory of a guest: of a value, or of a text that ends with a zero. */
export type Pointer = number;

/** The engine stopped in the middle of its work. Its memory can only be thrown away. */
export class GuestTrap extends Error {
  override readonly name = 'GuestTrap';
  readonly kind: 'memory' | 'nesting' | 'fault';

  constructor(kind: GuestTrap['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** A value that the engine returned, or the one that it threw. */
export interface Returned {
  readonly value: Pointer;
  readonly isThrown: boolean;
}

/** The requests of a guest to its host while it runs. */
interface GuestHost {
  /** Whether the script has used up its time. */
  readonly isOverdue: () => boolean;
  /** Executes a request of a script and returns the response. */
  readonly call: (request: string) => string;
}

/** The addresses of one engine within its memory. They stay valid when the memory is restored. */
export interface Realm {
  readonly runtime: Pointer;
  readonly context: Pointer;
}

/** An instance of QuickJS in WebAssembly. It frees few values: its memory is restored as a whole instead. */
export interface Guest {
  readonly memory: WebAssembly.Memory;
  /** Maximum size of the memory in bytes. */
  readonly maxBytes: number;
  readonly createRealm: () => Realm;
  /** Sets how much memory the engine may allocate together with what it has allocated before. */
  readonly limitMemory: (realm: Realm, bytes: number) => void;
  readonly evaluate: (realm: Realm, code: string, fileName: string) => Returned;
  readonly call: (realm: Realm, callee: Pointer, ...values: readonly Pointer[]) => Returned;
  /** Returns a new function in the engine that calls the host. */
  readonly newNative: (realm: Realm) => Pointer;
  readonly newText: (realm: Realm, text: string) => Pointer;
  /** Frees a value that nothing in the engine refers to. Only large ones are worth it. */
  readonly free: (realm: Realm, value: Pointer) => void;
  /** Returns the text of a value, or an empty text when memory is too short for it. */
  readonly readText: (realm: Realm, value: Pointer) => string;
  /** Returns the text of a value as UTF-8. It is empty when memory is too short for it, and valid until the engine runs again. */
  readonly readBytes: (realm: Realm, value: Pointer) => Buffer;
  readonly readElement: (realm: Realm, array: Pointer, index: number) => Pointer;
  /** Runs jobs of promises, at most this number. */
  readonly runJobs: (realm: Realm, count: number) => Returned;
  readonly hasJobs: (realm: Realm) => boolean;
}

const require = createRequire(import.meta.url);

/** The part of Emscripten's module that this file uses. */
interface EngineModule {
  readonly cwrap: (name: string, result: 'number', parameters: readonly 'number'[]) => Bound;
  readonly _malloc: (bytes: number) => Pointer;
  readonly _free: (at: Pointer) => void;
  /** View of the memory. It is replaced when the memory grows. */
  readonly HEAPU8: Uint8Array<ArrayBuffer>;
}

/** A function of the engine. Its parameters and result are addresses, counts and flags. */
type Bound = (...given: readonly number[]) => number;

/** Compiles QuickJS, for all guests of a thread. */
export function compileEngine(): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')));
}

/** Creates an instance. All that its functions throw is a `GuestTrap`. */
export async function createGuest(engine: WebAssembly.Module, maxBytes: number, host: GuestHost): Promise<Guest> {
  const memory = new WebAssembly.Memory({
    initial: INITIAL_BYTES / PAGE_BYTES,
    maximum: Math.ceil(maxBytes / PAGE_BYTES),
  });
  const silent = () => undefined;
  const options = {
    wasmMemory: memory,
    instantiateWasm: (imports: WasmImports, use: (instance: WasmInstance) => void) => {
      const instance = new WebAssembly.Instance(engine, imports);
      use(instance);
      return instance.exports;
    },
    print: silent,
    printErr: silent,
  };
  // The types of the package describe its other modules than Node.js loads.
  const load: (
    given: typeof options,
  ) => Promise<EngineModule> = require('@jitl/quickjs-wasmfile-release-sync/emscripten-module');
  const module = await load(options);

  function bind(name: string, parameters: number): Bound {
    const bound = module.cwrap(name, 'number', new Array<'number'>(parameters).fill('number'));
    return (...given) => {
      try {
        return bound(...given);
      } catch (cause) {
        // The recursion of C in WebAssembly uses the stack of the thread.
        throw new GuestTrap(cause instanceof RangeError ? 'nesting' : 'fault', 'The engine of scripts stopped.', cause);
      }
    };
  }

  const newRuntime = bind('QTS_NewRuntime', 0);
  const setMemoryLimit = bind('QTS_RuntimeSetMemoryLimit', 2);
  const setMaxStackSize = bind('QTS_RuntimeSetMaxStackSize', 2);
  const enableInterrupts = bind('QTS_RuntimeEnableInterruptHandler', 1);
  const newContext = bind('QTS_NewContext', 2);
  const evaluateCode = bind('QTS_Eval', 6);
  const callFunction = bind('QTS_Call', 5);
  const resolveException = bind('QTS_ResolveException', 2);
  const getString = bind('QTS_GetString', 2);
  const newString = bind('QTS_NewString', 2);
  const freeValue = bind('QTS_FreeValuePointer', 2);
  const getUndefined = bind('QTS_GetUndefined', 0);
  const getElement = bind('QTS_GetPropNumber', 3);
  const newHostRef = bind('QTS_NewHostRef', 2);
  const newFunction = bind('QTS_NewFunction', 5);
  const getArgument = bind('QTS_ArgvGetJSValueConstPointer', 2);
  const executeJobs = bind('QTS_ExecutePendingJob', 3);
  const isJobPending = bind('QTS_IsJobPending', 1);

  /** Writes a text with a zero at its end, as C expects it. */
  function write(text: string): { readonly at: Pointer; readonly bytes: number } {
    const bytes = Buffer.byteLength(text);
    const at = module._malloc(bytes + 1);
    if (at === 0) throw new GuestTrap('memory', 'The memory of the engine of scripts is used up.');
    encoder.encodeInto(text, module.HEAPU8.subarray(at, at + bytes));
    module.HEAPU8[at + bytes] = 0;
    return { at, bytes };
  }

  function writeAddresses(addresses: readonly Pointer[]): Pointer {
    const at = module._malloc(Math.max(1, addresses.length) * ADDRESS_BYTES);
    const view = new DataView(memory.buffer);
    for (const [index, address] of addresses.entries()) view.setUint32(at + index * ADDRESS_BYTES, address, true);
    return at;
  }

  function judge({ context }: Realm, value: Pointer): Returned {
    const thrown = resolveException(context, value);
    return thrown === 0 ? { value, isThrown: false } : { value: thrown, isThrown: true };
  }

  function readBytes({ context }: Realm, value: Pointer): Buffer {
    const at = getString(context, value);
    const bytes = module.HEAPU8;
    return Buffer.from(bytes.buffer, at, at === 0 ? 0 : bytes.indexOf(0, at) - at);
  }

  function readText(realm: Realm, value: Pointer): string {
    return readBytes(realm, value).toString();
  }

  function newText(realm: Realm, text: string): Pointer {
    const { at } = write(text);
    const { value, isThrown } = judge(realm, newString(realm.context, at));
    module._free(at);
    if (isThrown) throw new GuestTrap('memory', 'The memory of the engine of scripts is too small for a text.');
    return value;
  }

  /** An exception would unwind the frames of C here, so a failure becomes a text. */
  function respond(realm: Realm, request: Pointer): Pointer {
    const text = readText(realm, request);
    let reply: readonly [isFailure: boolean, text: string];
    try {
      reply = [false, host.call(text)];
    } catch (error) {
      reply = [true, error instanceof Error ? error.message : 'The request failed.'];
    }
    return newText(realm, JSON.stringify(reply));
  }

  const callbacks = {
    callFunction: (_: undefined, context: Pointer, _self: Pointer, count: number, values: Pointer) =>
      count === 0 ? 0 : respond({ runtime: 0, context }, getArgument(values, 0)),
    shouldInterrupt: () => (host.isOverdue() ? 1 : 0),
    freeHostRef: () => undefined,
  };
  Object.assign(module, { callbacks });

  return {
    memory,
    maxBytes,
    createRealm: () => {
      const runtime = newRuntime();
      setMaxStackSize(runtime, STACK_BYTES);
      enableInterrupts(runtime);
      return { runtime, context: newContext(runtime, ALL_INTRINSICS) };
    },
    limitMemory: ({ runtime }, bytes) => void setMemoryLimit(runtime, bytes),
    evaluate: (realm, code, fileName) => {
      const { at, bytes } = write(code);
      return judge(realm, evaluateCode(realm.context, at, bytes, write(fileName).at, AS_SCRIPT, GLOBAL_CODE));
    },
    call: (realm, callee, ...values) =>
      judge(realm, callFunction(realm.context, callee, getUndefined(), values.length, writeAddresses(values))),
    newNative: ({ context }) => {
      // QuickJS keeps the reference for as long as the function lives.
      newHostRef(context, NATIVE_ID);
      return newFunction(context, write('native').at, 1, 0, NATIVE_ID);
    },
    newText,
    free: ({ context }, value) => void freeValue(context, value),
    readText,
    readBytes,
    readElement: ({ context }, array, index) => getElement(context, array, index),
    runJobs: (realm, count) => judge(realm, executeJobs(realm.runtime, count, writeAddresses([0]))),
    hasJobs: ({ runtime }) => isJobPending(runtime) !== 0,
  };
}

/** The part of WebAssembly that this folder uses. The types of Node.js do not have it, and those of browsers would bring all of the DOM. */
declare global {
  namespace WebAssembly {
    type Imports = Record<string, Record<string, unknown>>;
    class Module {
      constructor(bytes: Uint8Array);
    }
    class Instance {
      readonly exports: Record<string, unknown>;
      constructor(module: Module, imports: Imports);
    }
    class Memory {
      /** The memory. It is replaced when the memory grows. */
      readonly buffer: ArrayBuffer;
      /** Sizes in pages of 64 KiB. */
      constructor(size: { readonly initial: number; readonly maximum: number });
    }
  }
}

type WasmImports = WebAssembly.Imports;
type WasmInstance = WebAssembly.Instance;
