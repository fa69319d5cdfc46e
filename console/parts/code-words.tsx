import { ERRORS } from '../../src/api/docs/errors.ts';

/** Every error code, in the order of the reference. */
export const CODES: readonly string[] = Object.keys(ERRORS);

/** The meaning and the remedy of an error code, as the reference has them. Nothing for a code that another release has. */
export function CodeWords({ code }: { readonly code: string }) {
  const found = Object.entries(ERRORS).find(([known]) => known === code)?.[1];
  return found === undefined ? null : <Marked text={`${found.meaning} ${found.remedy}`} />;
}

/** Every second part of the text stands between backticks. */
function Marked({ text }: { readonly text: string }) {
  const parts = text.split('`');
  return <>{parts.map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}</>;
}
