import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** For an input that is written first and taken into the address then: what is half written stays, whatever else comes meanwhile. */
export function useWritten(text: string): RefObject<HTMLInputElement | null> {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null) input.current.value = text;
  }, [text]);
  return input;
}
