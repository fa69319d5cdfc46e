import { useSharedLevels } from './levels.ts';

const MEANS = {
  organization: 'Organization: all of its accounts',
  account: 'Account: its instances only',
} as const;

/** The field `level` of a form: the levels above instances at which the user may do something. */
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
