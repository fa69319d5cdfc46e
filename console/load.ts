import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** Something that is asked for: what was known last stays while it is asked for again. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  /** Of the last time that it was asked for. */
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Asks again. */
  readonly reload: () => void;
}

type LoadState<Value> = Omit<Loaded<Value>, 'reload'>;

/**
 * Asks when the component is first shown, and again when something in `keys` is another.
 * @param everyMs also again after so long, while the page is looked at
 */
export function useLoad<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  keys: readonly unknown[],
  { everyMs }: { readonly everyMs?: number | undefined } = {},
): Loaded<Value> {
  const [state, setState] = useState<LoadState<Value>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(keys);
  const lastKey = useRef(key);
  const latest = useRef(load);
  const isAsking = useRef(false);
  latest.current = load;

  useEffect(() => {
    const aborter = new AbortController();
    const isSame = lastKey.current === key;
    lastKey.current = key;
    setState(({ value, error }) => ({
      value: isSame ? value : undefined,
      error: isSame ? error : undefined,
      isLoading: true,
    }));
    isAsking.current = true;
    const end = (next: (last: LoadState<Value>) => LoadState<Value>) => {
      if (aborter.signal.aborted) return;
      isAsking.current = false;
      setState(next);
    };
    latest.current(aborter.signal).then(
      (value) => end(() => ({ value, error: undefined, isLoading: false })),
      (error: unknown) => end(({ value }) => ({ value, error, isLoading: false })),
    );
    return () => aborter.abort();
  }, [key, turn]);

  const reload = useCallback(() => setTurn((last) => last + 1), []);
  useEffect(() => {
    if (everyMs === undefined) return;
    // What takes longer than that is waited for: asked for anew each time it would never come.
    const ask = () => document.visibilityState === 'visible' && !isAsking.current && reload();
    const timer = setInterval(ask, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);

  return { ...state, reload };
}

/** Something that a click does: while it goes on it does not begin again, and what went wrong is kept to be shown. */
export interface Action<Arguments extends readonly unknown[]> {
  readonly run: (...given: Arguments) => Promise<void>;
  readonly isRunning: boolean;
  readonly error: unknown;
  readonly forget: () => void;
}

export function useAction<Arguments extends readonly unknown[]>(
  act: (...given: Arguments) => Promise<void>,
): Action<Arguments> {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const running = useRef(false);
  const run = async (...given: Arguments) => {
    if (running.current) return;
    running.current = true;
    setRunning(true);
    setError(undefined);
    try {
      await act(...given);
    } catch (cause) {
      setError(cause);
    } finally {
      running.current = false;
      setRunning(false);
    }
  };
  return { run, isRunning, error, forget: () => setError(undefined) };
}
