import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** Data that is requested. The last known value stays while it is requested again. */
export interface Loaded<Value> {
  readonly value: Value | undefined;
  /** The error of the last request. */
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Requests the data again. */
  readonly reload: () => void;
}

type LoadState<Value> = Omit<Loaded<Value>, 'reload'>;

/**
 * Requests data when the component is first shown, and again when a value of `keys` changes.
 * @param everyMs interval of further requests while the page is visible
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
  const [version, setVersion] = useState(0);
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
  }, [key, version]);

  const reload = useCallback(() => setVersion((last) => last + 1), []);
  useEffect(() => {
    if (everyMs === undefined) return;
    // A request that takes longer than the interval must end first. Otherwise a new request would abort it each time.
    const ask = () => document.visibilityState === 'visible' && !isAsking.current && reload();
    const timer = setInterval(ask, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);

  return { ...state, reload };
}

/** An action that a click starts. It cannot start again while it runs, and its error is kept so that the page can show it. */
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
