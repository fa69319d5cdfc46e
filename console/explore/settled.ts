import { useEffect, useRef, useState } from 'preact/hooks';
import type { Loaded } from '../load.ts';

/** Returns the value once it has stayed the same for a time. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** Returns the last loaded value until the next one has arrived, so that the display does not jump. */
export function useKept<Value>(loaded: Loaded<Value>): Value | undefined {
  const kept = useRef(loaded.value);
  if (loaded.value !== undefined) kept.current = loaded.value;
  return kept.current;
}
