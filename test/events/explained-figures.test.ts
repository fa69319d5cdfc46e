import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DEFAULT_OPTIONS } from '../../src/events/options.ts';
import { SCHEDULES, type Schedule } from '../../src/events/push/schedule.ts';

const readPage = (path: string) =>
  readFileSync(join(import.meta.dirname, '../../docs', path), 'utf8').replaceAll(/\s+/g, ' ');
const { heartbeatMs, silentMs, sweepBackstopMs, auditMs, attemptTimeoutMs, breaker } = DEFAULT_OPTIONS;
const { acceptBatchRows, outcomeBatchRows, outcomeDelayMs, maxPendingOutcomes, announceMs } = DEFAULT_OPTIONS;
const { fewDue, laneConcurrency, maxLaneConcurrency, quickPushMs } = DEFAULT_OPTIONS;

/** What pages say of the engine, made of its options. */
const FIGURES = {
  'explanation/events.md': [
    `share a statement, up to ${acceptBatchRows} of them`,
    `a limit of ${laneConcurrency} to ${maxLaneConcurrency} requests at a time`,
    `stored in batches: ${outcomeBatchRows} of them, or those of ${outcomeDelayMs} milliseconds`,
    `every ${sweepBackstopMs / 1000} seconds in any case`,
    `If more than ${fewDue.toLocaleString('en')} deliveries are due`,
    `renews every ${heartbeatMs / 1000} seconds`,
    `silent for ${silentMs / 1000} seconds`,
    `At ${maxPendingOutcomes.toLocaleString('en')} waiting outcomes`,
    `Every ${auditMs / 1000} seconds a process compares`,
    `${breaker.shortestParkMs / 1000} seconds first, at most a minute`,
  ],
  'explanation/engines.md': [
    `Outcomes are stored in batches,** ${outcomeBatchRows} in a statement`,
    `at most every ${announceMs} milliseconds`,
  ],
  'reference/events.md': [
    `responds with 2xx within ${attemptTimeoutMs / 1000} seconds`,
    `sends ${laneConcurrency} at a time to a subscription, and up to ${maxLaneConcurrency} while the receiver responds within ${quickPushMs} milliseconds`,
    `| 5 | ${intervalsOf(SCHEDULES[5]).join(', ')} |`,
    `| 9 | ${intervalsOf(SCHEDULES[9]).slice(0, 4).join(', ')}, then five times ${intervalsOf(SCHEDULES[9]).at(-1)} |`,
  ],
};

describe('the figures of the engine', () => {
  for (const [path, figures] of Object.entries(FIGURES)) {
    it(`are those of docs/${path}`, () => {
      const text = readPage(path);
      for (const figure of figures) expect(text).to.include(figure);
    });
  }
});

function intervalsOf({ offsetsMs }: Schedule): readonly number[] {
  return offsetsMs.map((offsetMs, index) => (offsetMs - (offsetsMs[index - 1] ?? 0)) / 1000);
}
