import { useEffect, useRef, useState } from 'preact/hooks';
import type { Loaded } from '../load.ts';

/** The value once it has stayed the same for so long. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** What was loaded last stays until the next has come: what is shown does not jump. */
export function useKept<Value>(loaded: Loaded<Value>): Value | undefined {
  const kept = useRef(loaded.value);
  if (loaded.value !== undefined) kept.current = loaded.value;
  return kept.current;
}
