import { useSharedLevels } from './levels.ts';

const MEANS = {
  organization: 'Organization: all of its accounts',
  account: 'Account: its instances only',
} as const;

/** A choice of a level above instances at which the user may do something, as the field `level` of a form. */
export function LevelChoice({ action }: { readonly action: 'create' | 'edit' }) {
  return (
    <label>
      Level
      <select name="level">
        {useSharedLevels(action).map((level) => (
          <option key={level} value={level}>
            {MEANS[level]}
          </option>
        ))}
      </select>
    </label>
  );
}
