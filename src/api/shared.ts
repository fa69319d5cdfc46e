/**
 * Work that many may ask for: whoever comes while it is under way, or within `keepMs` of its end, gets the same. A failure is
 * not kept.
 */
export function createShared<Value>(work: () => Promise<Value>, keepMs: number): () => Promise<Value> {
  let running: Promise<Value> | undefined;

  async function run(): Promise<Value> {
    try {
      const value = await Promise.resolve().then(work);
      setTimeout(forget, keepMs).unref();
      return value;
    } catch (error) {
      forget();
      throw error;
    }
  }

  function forget(): void {
    running = undefined;
  }

  return () => {
    running ??= run();
    return running;
  };
}
