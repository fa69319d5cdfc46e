import { texts } from './texts.ts';

const WIDTH = 520;
const HEIGHT = 720;

/**
 * Opens an empty window for a provider's page. Browsers allow a window only during a click, and not when a response arrives.
 * @returns false if the browser opened no window
 * @throws the errors of `address`
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
