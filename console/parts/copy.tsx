import { useState } from 'preact/hooks';

const SHOWN_MS = 1500;

/** A button that copies a text to the clipboard. */
export function Copy({ text, what, label }: { readonly text: string; readonly what: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <button type="button" class="plain" aria-label={label === undefined ? `Copy ${what}` : undefined} onClick={copy}>
      {isCopied ? 'Copied' : (label ?? 'Copy')}
    </button>
  );
}
