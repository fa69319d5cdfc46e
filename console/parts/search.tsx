import { useEffect, useRef, useState } from 'preact/hooks';

const SETTLED_MS = 250;

interface SearchProps {
  readonly label: string;
  readonly value: string;
  /** After the last key. */
  readonly onSettled: (words: string) => void;
}

/** The search of a page, which `/` goes to. */
export function Search({ label, value, onSettled }: SearchProps) {
  const [words, setWords] = useState(value);
  const latest = useRef({ onSettled, reported: value });
  latest.current.onSettled = onSettled;
  useEffect(() => {
    // Another address, not the echo of what was typed.
    if (value === latest.current.reported) return;
    latest.current.reported = value;
    setWords(value);
  }, [value]);
  useEffect(() => {
    if (words === latest.current.reported) return;
    const timer = setTimeout(() => {
      latest.current.reported = words;
      latest.current.onSettled(words);
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [words]);
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={`${label}  ( / )`}
      value={words}
      onInput={({ currentTarget }) => setWords(currentTarget.value)}
    />
  );
}
