import { ERRORS } from '../../src/api/docs/errors.ts';

/** Every error code, in the order of the reference. */
export const CODES: readonly string[] = Object.keys(ERRORS);

/**
 * Shows the meaning and the remedy of an error code, as the reference has them. Shows nothing for an unknown code, such as one of another
 * release.
 */
export function CodeWords({ code }: { readonly code: string }) {
  const found = Object.entries(ERRORS).find(([known]) => known === code)?.[1];
  return found === undefined ? null : <Marked text={`${found.meaning} ${found.remedy}`} />;
}

/** Shows a text. Every second part of it stands between backticks and is code. */
function Marked({ text }: { readonly text: string }) {
  const parts = text.split('`');
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</>;
}
