import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';

/** The query of the address. */
export type AddressQuery = Readonly<Record<string, string | undefined>>;

/**
 * Returns the query of the address, and a function that changes parameters without a new entry in the history. An empty value removes a
 * parameter.
 */
export function useQuery(): readonly [query: AddressQuery, change: (changes: AddressQuery) => void] {
  const { path, query, route } = useLocation();
  const change = (changes: AddressQuery) => {
    const entries = Object.entries({ ...query, ...changes });
    const given = entries.filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
    const text = new URLSearchParams(given).toString();
    route(text === '' ? path : `${path}?${text}`, true);
  };
  return [query, change];
}

/** Milliseconds without typing after which a search starts. */
const REST_MS = 250;

/** Returns the text of a search field, which is written into the address when the user stops typing. */
export function useTyped(given: string, onRest: (text: string) => void): readonly [string, (text: string) => void] {
  const [text, setText] = useState(given);
  const sent = useRef(given);
  const latest = useRef(onRest);
  latest.current = onRest;
  useEffect(() => {
    if (given !== sent.current) setText(given);
    sent.current = given;
  }, [given]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      latest.current(text);
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}
