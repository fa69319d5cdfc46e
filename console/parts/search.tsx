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
  const latest = useRef({ onSettled, told: value });
  latest.current.onSettled = onSettled;
  useEffect(() => {
    // Another address, not the echo of what was typed.
    if (value === latest.current.told) return;
    latest.current.told = value;
    setWords(value);
  }, [value]);
  useEffect(() => {
    if (words === latest.current.told) return;
    const timer = setTimeout(() => {
      latest.current.told = words;
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
