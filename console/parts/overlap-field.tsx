const OVERLAPS = [
  [86_400, 'for 24 hours'],
  [3_600, 'for an hour'],
  [604_800, 'for 7 days'],
  [0, 'not at all: they expire immediately'],
] as const;

/** The field `overlap` of a form that rotates a secret: how many seconds earlier secrets stay valid. */
export function OverlapField() {
  return (
    <label>
      Earlier secrets stay valid
      <select name="overlap">
        {OVERLAPS.map(([seconds, says]) => (
          <option key={seconds} value={seconds}>
            {says}
          </option>
        ))}
      </select>
    </label>
  );
}
