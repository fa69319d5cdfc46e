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

export type WasmImports = WebAssembly.Imports;
export type WasmInstance = WebAssembly.Instance;
