import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { CONSOLE_PAGES } from './navigation.ts';

/** Maximum milliseconds between `g` and the second key. */
const SEQUENCE_MS = 1500;

/**
 * Adds the shortcuts of the keyboard: `/` focuses the search of the page, `g` and a letter open a page, and `?` shows the help. They are
 * inactive while the user types.
 */
export function useShortcuts(onHelp: () => void): void {
  const { route } = useLocation();
  const help = useRef(onHelp);
  help.current = onHelp;
  useEffect(() => {
    let pressedAt = 0;
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const page = event.timeStamp - pressedAt < SEQUENCE_MS && CONSOLE_PAGES.find(({ key }) => key === event.key);
      pressedAt = event.key === 'g' ? event.timeStamp : 0;
      const search = document.querySelector<HTMLInputElement>('input[type=search]');
      if (page) route(page.path);
      else if (event.key === '/' && search !== null) search.focus();
      else if (event.key === '?') help.current();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [route]);
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
  );
}
