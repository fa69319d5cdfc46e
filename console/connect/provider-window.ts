import { texts } from './texts.ts';

const WIDTH = 520;
const HEIGHT = 720;

/**
 * Opens a window for a provider's page, empty at first: browsers let a page open windows when the user clicks, and not when an answer comes.
 * @returns false where the browser opened none. @throws what `address` throws
 */
export async function openWindow(address: () => Promise<string>): Promise<boolean> {
  const opened = window.open('', '_blank', `popup,width=${WIDTH},height=${HEIGHT}`);
  if (opened === null) return false;
  opened.document.title = texts.waiting.opening;
  opened.document.body.textContent = texts.waiting.opening;
  try {
    opened.location.replace(await address());
    return true;
  } catch (error) {
    opened.close();
    throw error;
  }
}
