import { useId } from 'preact/hooks';
import type { DeliveryAttempt } from '../api.ts';
import { sayDuration } from '../parts/time.tsx';
import type { RetryPlan } from './retry-plan.ts';

interface Point {
  readonly atMs: number;
  readonly look: 'good' | 'bad' | 'planned';
  readonly title: string;
}

interface RetriesProps {
  readonly attempts: readonly DeliveryAttempt[];
  /** The planned retries. Undefined if there is no further attempt. */
  readonly plan: RetryPlan | undefined;
}

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

/** Shows attempts and planned retries on a logarithmic time axis, because the last retry can be days away. */
export function RetryLine({ attempts, plan }: RetriesProps) {
  const id = useId();
  const points = pointsOf(attempts, plan);
  const startMs = points[0]?.atMs;
  if (startMs === undefined) return null;
  const lastMs = Math.max(...points.map(({ atMs }) => atMs));
  const nowMs = Date.now();
  const x = scaleOf(startMs, lastMs);
  return (
    <div class="stack tight">
      <svg class="timeline" role="img" aria-label="Timeline of the attempts" aria-describedby={id}>
        <line x1={x(startMs)} x2={x(lastMs)} y1="24" y2="24" />
        {plan !== undefined && nowMs < lastMs && <line class="now" x1={x(nowMs)} x2={x(nowMs)} y1="8" y2="40" />}
        {ticksOf(startMs, lastMs).map(({ atMs, label }) => (
          <text key={label} x={x(atMs)} y="60">
            {label}
          </text>
        ))}
        {points.map(({ atMs, look, title }) => (
          <circle key={title} class={look} cx={x(atMs)} cy="24" r="6">
            <title>{title}</title>
          </circle>
        ))}
      </svg>
      <p id={id} class="small">
        {describeRetries(attempts, plan, nowMs)}
      </p>
    </div>
  );
}

function pointsOf(attempts: readonly DeliveryAttempt[], plan: RetryPlan | undefined): readonly Point[] {
  const past = attempts.map(({ attempt, date, delivered, error }): Point => {
    const outcome = delivered ? 'delivered' : `failed${error === undefined ? '' : `: ${error}`}`;
    const atMs = Date.parse(date);
    return {
      atMs,
      look: delivered ? 'good' : 'bad',
      title: `Attempt ${attempt}, ${exact.format(atMs)}, ${outcome}`,
    };
  });
  const planned = (plan?.planned ?? []).map(({ retry, atMs }): Point => {
    return { atMs, look: 'planned', title: `Retry ${retry} of ${plan?.count}, planned for ${exact.format(atMs)}` };
  });
  return [...past, ...planned];
}

/** Returns a description of the line in words. */
function describeRetries(attempts: readonly DeliveryAttempt[], plan: RetryPlan | undefined, nowMs: number): string {
  const failed = attempts.filter(({ delivered }) => !delivered).length;
  const past =
    attempts.length === failed
      ? `${sayNumber(failed)} failed.`
      : failed === 0
        ? 'The receiver accepted the first attempt.'
        : `${sayNumber(failed)} failed, then the receiver accepted one.`;
  const [next, ...later] = plan?.planned ?? [];
  if (plan === undefined || next === undefined) return past;
  const soon = next.atMs > nowMs ? `in ${sayDuration(next.atMs - nowMs)}, at ${exact.format(next.atMs)}` : 'due now';
  const others =
    later.length === 0 ? '' : ` Then: ${later.map(({ atMs }) => `in ${sayDuration(atMs - nowMs)}`).join(', ')}.`;
  const end = 'If the last retry fails, the service deactivates the subscription and queues its deliveries.';
  return `${past} Retry ${next.retry} of ${plan.count} is ${next.atMs > nowMs ? `planned ${soon}` : soon}.${others} ${end}`;
}

function sayNumber(attempts: number): string {
  return attempts === 1 ? '1 attempt' : `${attempts} attempts`;
}

/** Free space at both ends of the line in percent, so that the outer points are fully visible. */
const MARGIN_PERCENT = 3;
/** Seconds up to which the axis is nearly linear. */
const EVEN_S = 4;

/** Returns the scale: percents of the width by the logarithm of the time since the first attempt. */
function scaleOf(startMs: number, lastMs: number): (atMs: number) => string {
  const grow = (atMs: number) => Math.log1p(Math.max(atMs - startMs, 0) / 1000 / EVEN_S);
  const whole = grow(lastMs) || 1;
  return (atMs) => `${(MARGIN_PERCENT + (grow(atMs) / whole) * (100 - 2 * MARGIN_PERCENT)).toFixed(2)}%`;
}

const TICKS: readonly (readonly [label: string, seconds: number])[] = [
  ['+10 s', 10],
  ['+1 min', 60],
  ['+10 min', 600],
  ['+1 h', 3_600],
  ['+10 h', 36_000],
  ['+4 d', 345_600],
  ['+40 d', 3_456_000],
];

function ticksOf(startMs: number, lastMs: number) {
  return TICKS.map(([label, seconds]) => ({ label, atMs: startMs + seconds * 1000 })).filter(
    ({ atMs }) => atMs <= lastMs,
  );
}
