/** Measures what a log-in by password costs: one alone, and many at once, with what they do to the memory and to the event loop. */
import { createHmac, randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createPasswordHasher } from '../../src/accounts/log-in/password-hash.ts';
import { SYSTEM_CLOCK } from '../../src/clock.ts';

const ALONE = 30;
/** Far fewer than may wait, as each waits 5 s at most. */
const AT_ONCE = 20;
const ROUNDS = 5;
const PASSWORD = 'violet anchor drifts past noon';

const key = randomBytes(32);
const keys = {
  digest: (text: string, context: string) => createHmac('sha256', key).update(`${context}\0${text}`).digest(),
  lookupHash: (secret: string) => createHmac('sha256', key).update(secret).digest(),
  seal: (plain: string) => plain,
  open: (sealed: string) => sealed,
};
const random = { bytes: randomBytes, fraction: Math.random };
const { hash, verify } = createPasswordHasher({ keys, random, clock: SYSTEM_CLOCK });

const owner = { accountId: 1, userId: 1 };
const stored = { ...owner, passwordHash: await hash(PASSWORD, owner) };

const times: number[] = [];
for (let at = 0; at < ALONE; at++) times.push(await timeOf(() => verify(PASSWORD, stored)));
const [median = 0, most = 0] = [times.toSorted((one, other) => one - other)[ALONE / 2], Math.max(...times)];
console.log(`one alone: ${median.toFixed(1)} ms (p50 of ${ALONE}), ${most.toFixed(1)} ms at most`);

const before = process.memoryUsage().rss;
let peak = before;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 5);
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const ms = await timeOf(async () => {
  for (let round = 0; round < ROUNDS; round++)
    await Promise.all(Array.from({ length: AT_ONCE }, () => verify(PASSWORD, stored)));
});
delay.disable();
clearInterval(watch);
const megabytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);
console.log(
  `${AT_ONCE} at once: ${((AT_ONCE * ROUNDS * 1000) / ms).toFixed(0)}/s, ${megabytes(peak - before)} MB more, ` +
    `event loop p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`,
);

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
