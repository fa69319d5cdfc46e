import { CALLERS_SHARE } from '../rate-limits.ts';

/** A rate limit that the provider reported. Times are milliseconds since 1970 on the database's clock. */
export interface Report {
  readonly limit: number;
  readonly remaining: number;
  /** When the call that reported it was sent. The provider had counted every call that was answered before. */
  readonly at: number;
  /** When the limit is renewed. */
  readonly resetsAt: number;
}

/** The answered calls of a holder at the time of a renewal. */
interface AnsweredMark {
  readonly at: number;
  readonly answered: number;
}

/** A process that holds a share of a budget. Calls are counted since the process first called the instance. */
interface Holder {
  /** Calls that it had sent at its last renewal. */
  readonly taken: number;
  /** Calls that it may still send until `until`. */
  readonly left: number;
  /** Calls of it that the report surely includes. */
  readonly base: number;
  /** The last renewals, the oldest first. */
  readonly marks: readonly AnsweredMark[];
  /** Calls of callers, and of background work, that it expects in the time of one lease. */
  readonly callers: number;
  readonly background: number;
  /** Whether the holder lacks calls that others may have to spare. */
  readonly short: boolean;
  /** End of the lease. */
  readonly until: number;
}

/** The budget of one instance, as all processes see it. */
export interface RateBudgetState {
  /** The newest report. */
  readonly report: Report;
  /** Calls that the report may not include, of holders that are gone. */
  readonly debt: number;
  /** By the id of the process. */
  readonly holders: Readonly<Record<string, Holder>>;
}

/** A process asks for a share, or renews it. What it had left of its share returns to the budget. */
export interface ShareRenewal {
  readonly holder: string;
  /** The database's time. */
  readonly now: number;
  readonly leaseMs: number;
  readonly taken: number;
  readonly answered: number;
  /** Calls of it that its own last report surely includes. */
  readonly base: number;
  readonly report?: Report | undefined;
  readonly callers: number;
  readonly background: number;
  readonly waitingCallers: number;
  readonly waitingBackground: number;
  /** Whether the process gives up its share, because it has no more calls to send. */
  readonly leaves: boolean;
}

/** The share of a process. */
export interface Grant {
  /** Calls that the process may send. */
  readonly left: number;
  /** The part of `left` that only callers may use. */
  readonly reserve: number;
  /** Calls that all processes together may send. */
  readonly total: number;
  /** Whether no other process has a share. */
  readonly isAlone: boolean;
  readonly report: Report;
  /** Whether the limit was renewed since the report. */
  readonly isRenewed: boolean;
}

export interface Settlement {
  readonly state: RateBudgetState;
  readonly grant: Grant;
  /** Whether other processes should renew now: they have more than their part, or this process left something that they wait for. */
  readonly wakesOthers: boolean;
}

/** Marks are kept this long, and one from before: a report is hardly ever older. */
const KEEP_MARKS_MS = 10_000;
/** Weight of a holder that expects no calls, so that its first call finds something. */
const IDLE_WEIGHT = 1;
/** A process whose fair part is smaller does not ask others for it until a call waits. */
const LEAST_FAIR = 2;

/**
 * Settles a renewal: the new state of the budget, and the share of the process. It guarantees that all shares together never exceed what the
 * newest report left, less the calls that the report may not include yet. Undefined where no limit is known.
 */
export function settle(before: RateBudgetState | undefined, renewal: ShareRenewal): Settlement | undefined {
  const known = before ?? (renewal.report && { report: renewal.report, debt: 0, holders: {} });
  if (known === undefined) return undefined;
  const { holder: id, now } = renewal;
  const { report, debt, holders } = withoutDead(withNewest(known, renewal), renewal);
  const others = Object.entries(holders).filter(([name]) => name !== id);
  const own = holders[id];
  // Of a newcomer, only what its own report includes is known, and that report is not newer than the one that counts.
  const mine = { taken: renewal.taken, base: Math.min(own?.base ?? renewal.base, renewal.taken) };
  const used = [mine, ...others.map(([, other]) => other)].reduce((sum, { taken, base }) => sum + taken - base, 0);
  const isRenewed = report.resetsAt <= now;
  // Calls since the report may have come after the reset, so they stay counted until a new report includes them.
  const total = Math.max(0, (isRenewed ? report.limit : report.remaining) - debt - used);
  const given = others.reduce((sum, [, { left }]) => sum + left, 0);
  const pool = Math.max(0, total - given);
  if (renewal.leaves) {
    // Its last calls stay counted until a report includes them.
    const grant = { left: 0, reserve: 0, total, isAlone: others.length === 0, report, isRenewed };
    const left = { report, debt: debt + mine.taken - mine.base, holders: Object.fromEntries(others) };
    const wakesOthers = pool >= 1 && others.some(([, { short }]) => short);
    return { state: left, grant, wakesOthers };
  }
  const fairOf = divide(total, report.limit, [renewal, ...others.map(([, other]) => other)]);
  const { left, reserve } = share(renewal, { pool, total, isAlone: others.length === 0 }, fairOf);
  const fair = fairOf(renewal).whole;
  const lacks = fair >= LEAST_FAIR && left < fair / 2;
  const lacksBackground = total > report.limit * CALLERS_SHARE && renewal.waitingBackground > left - reserve;
  const short = lacks || renewal.waitingCallers > left || lacksBackground;
  const holder: Holder = {
    ...mine,
    left,
    marks: keepMarks([...(own?.marks ?? []), { at: now, answered: renewal.answered }], now),
    callers: renewal.callers,
    background: renewal.background,
    short,
    until: now + renewal.leaseMs,
  };
  const hoards = others.some(([, other]) => other.left > Math.ceil(fairOf(other).whole) + 1);
  const rest = pool - left;
  const canGain = (other: Holder) => other.short && rest >= 1 && Math.floor(fairOf(other).whole) > other.left;
  const wakesOthers = (short && hoards) || others.some(([, other]) => canGain(other));
  return {
    state: { report, debt, holders: { ...Object.fromEntries(others), [id]: holder } },
    grant: { left, reserve, total, isAlone: others.length === 0, report, isRenewed },
    wakesOthers,
  };
}

type Demand = Pick<Holder, 'callers' | 'background'>;

/** Returns the fair parts of a total: that of callers by the demand of callers, the rest by all demand. */
function divide(total: number, limit: number, all: readonly Demand[]) {
  const forCallers = Math.min(total, limit * CALLERS_SHARE);
  const callerWeight = ({ callers }: Demand) => callers + IDLE_WEIGHT;
  const weight = ({ callers, background }: Demand) => callers + background + IDLE_WEIGHT;
  const callerWeights = all.reduce((sum, one) => sum + callerWeight(one), 0);
  const weights = all.reduce((sum, one) => sum + weight(one), 0);
  return (one: Demand) => {
    const reserve = (forCallers * callerWeight(one)) / callerWeights;
    return { reserve, whole: reserve + ((total - forCallers) * weight(one)) / weights };
  };
}

function share(
  renewal: ShareRenewal,
  { pool, total, isAlone }: { readonly pool: number; readonly total: number; readonly isAlone: boolean },
  fairOf: ReturnType<typeof divide>,
): Pick<Grant, 'left' | 'reserve'> {
  const fair = fairOf(renewal);
  if (isAlone) return { left: total, reserve: Math.min(total, Math.ceil(fair.reserve)) };
  const fairly = Math.min(pool, Math.floor(fair.whole));
  // Of a few calls nobody's part is a whole one, so the first who asks gets one.
  const left = fairly === 0 && pool >= 1 && renewal.waitingCallers > 0 ? 1 : fairly;
  return { left, reserve: Math.min(left, Math.ceil(fair.reserve)) };
}

/**
 * Removes the holders whose leases ended. If the report or the reset is from after the lease, their calls matter no more. Otherwise nobody
 * knows how many they sent, so their whole shares count as used until a newer report comes.
 */
function withoutDead({ report, debt, holders }: RateBudgetState, { holder: id, now }: ShareRenewal): RateBudgetState {
  const entries = Object.entries(holders);
  const dead = entries.filter(([name, { until }]) => name !== id && until <= now);
  const countsFrom = report.resetsAt <= now ? report.resetsAt : report.at;
  const unknown = dead.filter(([, { until }]) => until > countsFrom);
  const used = unknown.reduce((sum, [, { taken, left, base }]) => sum + taken + left - base, 0);
  const living = dead.length === 0 ? holders : Object.fromEntries(entries.filter((entry) => !dead.includes(entry)));
  return { report, debt: debt + used, holders: living };
}

/** Replaces the report by that of the renewal, if it is newer. It includes the calls that were answered before it. */
function withNewest(state: RateBudgetState, { holder: id, report, base }: ShareRenewal): RateBudgetState {
  if (report === undefined || report.at <= state.report.at) return state;
  const entries = Object.entries(state.holders).map(([name, holder]) => [
    name,
    { ...holder, base: name === id ? Math.max(holder.base, base) : baseAt(holder, report.at) },
  ]);
  return { report, debt: 0, holders: Object.fromEntries(entries) };
}

/** Returns the calls that were surely answered at a time. */
function baseAt({ base, marks }: Holder, at: number): number {
  return Math.max(base, marks.findLast((mark) => mark.at <= at)?.answered ?? 0);
}

function keepMarks(marks: readonly AnsweredMark[], now: number): readonly AnsweredMark[] {
  const firstKept = marks.findIndex(({ at }) => at > now - KEEP_MARKS_MS);
  return marks.slice(Math.max(0, firstKept - 1));
}
