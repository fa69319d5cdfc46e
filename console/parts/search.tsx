import { useEffect, useRef, useState } from 'preact/hooks';

const SETTLED_MS = 250;

interface SearchProps {
  readonly label: string;
  readonly value: string;
  /** Receives the words when the user pauses after the last key. */
  readonly onSettled: (words: string) => void;
}

/** The search field of a page. The shortcut `/` moves the focus to it. */
export function Search({ label, value, onSettled }: SearchProps) {
  const [words, setWords] = useState(value);
  const latest = useRef({ onSettled, reported: value });
  latest.current.onSettled = onSettled;
  useEffect(() => {
    // The address has changed for another reason than the typed text.
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
