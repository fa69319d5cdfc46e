/** Native values ↔ ours. */

/** `2024-02-29T08:30:00.000+0000` → `2024-02-29T08:30:00.000Z`. */
export function readInstant(native: unknown): unknown {
  return typeof native === 'string' ? native.replace(/\+00:?00$/, 'Z') : native;
}

/** `A;B` → `['A', 'B']`. */
export function readChoices(native: unknown): unknown {
  return typeof native === 'string' ? native.split(';') : native;
}

export function writeChoices(value: unknown): unknown {
  return Array.isArray(value) ? value.join(';') : value;
}
