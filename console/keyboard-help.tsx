import { CONSOLE_PAGES } from './navigation.ts';
import { Dialog } from './parts/dialog.tsx';

const KEYS: readonly (readonly [keys: string, title: string])[] = [
  ['/', 'Go to the search field'],
  ['?', 'Show this help'],
  ['Esc', 'Close the dialog'],
];

/** Shows the shortcuts of the keyboard. */
export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="facts keys">
        {KEYS.map(([keys, title]) => (
          <Line key={keys} keys={keys} title={title} />
        ))}
        {CONSOLE_PAGES.map(({ key, title }) => (
          <Line key={key} keys={`g ${key}`} title={`Go to ${title}`} />
        ))}
      </dl>
    </Dialog>
  );
}

function Line({ keys, title }: { readonly keys: string; readonly title: string }) {
  return (
    <>
      <dt>
        <kbd>{keys}</kbd>
      </dt>
      <dd>{title}</dd>
    </>
  );
}
