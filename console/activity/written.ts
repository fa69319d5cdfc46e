import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/**
 * Returns a reference to an input that is read when the user finishes it. Its text is replaced only when the address has another one, so
 * that a half-written text survives other updates of the page.
 */
export function useWritten(text: string): RefObject<HTMLInputElement | null> {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== null) input.current.value = text;
  }, [text]);
  return input;
}
