import { AppError, type ErrorDetail, pointer } from '../errors.ts';

export const UNSTORABLE = 'contains a character that cannot be stored: NUL, or half of a surrogate pair.';

/** Returns whether PostgreSQL can store a text. It rejects NUL, and half of a surrogate pair would come back as another character. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/**
 * Checks that all texts of a body can be stored unchanged.
 * @throws AppError REQUEST_INVALID that names all that cannot be kept as given
 */
export function assertAllStorable(texts: Readonly<Record<string, string | undefined>>): void {
  const faults = Object.entries(texts)
    .filter(([, text = '']) => !isStorable(text))
    .map(([member]): ErrorDetail => ({ path: pointer('body', member), message: `body.${member} ${UNSTORABLE}` }));
  const [first] = faults;
  if (first !== undefined) throw new AppError('REQUEST_INVALID', first.message, { details: faults });
}
