import { useState } from 'preact/hooks';
import { Copy } from './copy.tsx';

/** Shows a secret only after a click. */
export function Hidden({ text, what }: { readonly text: string; readonly what: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <span class="row">
      <code class="break">{isShown ? text : '•'.repeat(16)}</code>
      <span>
        <button
          type="button"
          class="plain"
          aria-label={`${isShown ? 'Hide' : 'Reveal'} ${what}`}
          onClick={() => setShown(!isShown)}
        >
          {isShown ? 'Hide' : 'Reveal'}
        </button>
        <Copy text={text} what={what} />
      </span>
    </span>
  );
}
