import type { LikeForm, PushedField } from './model.ts';

/** Which patterns a provider takes for a field. */

export function takesForm(field: PushedField, form: LikeForm): boolean {
  return field.likeForms?.includes(form) ?? true;
}

/** What the characters leave of a text that the provider may take for something else: one piece when there are none of them. */
export function surePieces({ likeExcept = '' }: PushedField, text: string): readonly string[] {
  const pieces = [''];
  for (const character of text) {
    if (likeExcept.includes(character)) pieces.push('');
    else pieces.push(`${pieces.pop()}${character}`);
  }
  return pieces;
}
