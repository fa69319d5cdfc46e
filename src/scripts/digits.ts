import { ExactNumber, isMembers } from '../numbers/exact-json.ts';

/** The numbers of a value that a double cannot hold, by the double that they become in a script. */
export type ExactDigits = ReadonlyMap<number, ExactNumber>;

/**
 * Collects the numbers that a script would see rounded. Two of them that become the same double are left out, because nobody can tell
 * afterwards which one a result means.
 */
export function collectDigits(value: unknown): ExactDigits {
  const found = new Map<number, ExactNumber>();
  const ambiguous = new Set<number>();
  const open: unknown[] = [value];
  for (let at = 0; at < open.length; at++) {
    const next = open[at];
    if (next instanceof ExactNumber) {
      const double = Number(next.text);
      const known = found.get(double);
      if (known !== undefined && known.text !== next.text) ambiguous.add(double);
      found.set(double, next);
    } else if (isMembers(next)) for (const member of Object.values(next)) open.push(member);
  }
  for (const double of ambiguous) found.delete(double);
  return found;
}

/** Gives numbers of a result their digits back, in place: each that equals the double of exactly one number of the arguments. */
export function restoreDigits(result: unknown, digits: ExactDigits): unknown {
  if (digits.size === 0) return result;
  const root = { result };
  const open: Record<string, unknown>[] = [root];
  for (let members = open.pop(); members !== undefined; members = open.pop())
    for (const [name, member] of Object.entries(members)) {
      const exact = typeof member === 'number' ? digits.get(member) : undefined;
      if (exact !== undefined) Object.defineProperty(members, name, { value: exact });
      else if (isMembers(member)) open.push(member as Record<string, unknown>);
    }
  return root.result;
}
