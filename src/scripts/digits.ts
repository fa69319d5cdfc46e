import { ExactNumber, isMembers } from '../numbers/exact-json.ts';
import type { Pacer } from '../pace.ts';

/** The numbers of a value that a double cannot hold, by the double that they become in a script. */
export type ExactDigits = ReadonlyMap<number, ExactNumber>;

/** Number of members after which the walk looks at the time. One object may have tens of thousands. */
const NOTED_AT_ONCE = 2_000;

/**
 * Collects the numbers that a script would see rounded. Two of them that become the same double are left out, because nobody can tell
 * afterwards which one a result means.
 */
export async function collectDigits(values: readonly unknown[], pacer: Pacer): Promise<ExactDigits> {
  const found = new Map<number, ExactNumber>();
  const ambiguous = new Set<number>();
  const open: (readonly unknown[] | Readonly<Record<string, unknown>>)[] = [];
  const note = (member: unknown): void => {
    if (typeof member !== 'object' || member === null) return;
    if (!(member instanceof ExactNumber)) {
      if (isMembers(member)) open.push(member);
      return;
    }
    const double = Number(member.text);
    const known = found.get(double);
    if (known !== undefined && known.text !== member.text) ambiguous.add(double);
    found.set(double, member);
  };
  for (const value of values) note(value);
  for (let members = open.pop(); members !== undefined; members = open.pop()) {
    if (pacer.isDue()) await pacer.pause();
    if (Array.isArray(members)) for (const member of members) note(member);
    else {
      let noted = 0;
      // A list of all values would take three times as long.
      for (const name in members) {
        note(Reflect.get(members, name));
        if (++noted % NOTED_AT_ONCE === 0 && pacer.isDue()) await pacer.pause();
      }
    }
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
