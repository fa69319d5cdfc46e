import { expect } from 'chai';
import { createGroupCommit, type Unit } from '../src/events/accept/group-commit.ts';
import { createAlarm } from '../src/events/timers.ts';
import {
  createTrace,
  currentSpan,
  currentTrace,
  errorTypeOf,
  inBackground,
  inSpan,
  type Span,
  type SpanEnd,
  type Trace,
  within,
  withTrace,
} from '../src/trace.ts';
import { createVirtualClock } from './support/virtual-clock.ts';

/** A span that notes what ends it and those below it. */
function createSpan(name: string, ended: Map<string, SpanEnd>, isRecorded = true): Span {
  const own: Span = {
    traceId: 'trace',
    spanId: name,
    isRecorded,
    traceparent: undefined,
    child: (start) => createSpan(start.name, ended),
    follow: () => own,
    headersFor: () => undefined,
    note: () => undefined,
    end: (describe) => void ended.set(name, describe?.() ?? {}),
  };
  return own;
}

const TRACE: Trace = createTrace('request-1');

describe('the trace of a request', () => {
  it('is found however deep the work is, and nowhere else', async () => {
    const found = await withTrace({ trace: TRACE, span: undefined }, async () => {
      await Promise.resolve();
      return currentTrace();
    });
    expect(found).to.equal(TRACE);
    expect(currentTrace()).to.equal(undefined);
  });

  it('is not that of work that serves others as well', async () => {
    const found: (Trace | undefined)[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const commit = createGroupCommit<Unit>({
      write: async () => void found.push(currentTrace()),
      maxRows: 10,
      maxBytes: 10,
      writesInFlight: 1,
    });
    const clock = createVirtualClock();
    const alarm = createAlarm(clock, () => {
      found.push(currentTrace());
      resolve();
    });
    await withTrace({ trace: TRACE, span: undefined }, async () => {
      commit.add({ accountId: 1, rowCount: 1, bytes: 1 });
      alarm.ringIn(1);
      found.push(inBackground(currentTrace));
      await commit.idle();
      await clock.advance(5);
      await promise;
    });
    expect(found).to.deep.equal([undefined, undefined, undefined]);
  });
});

describe('a span', () => {
  it('is begun below the current one, is the current one while the work is done, and ends with it', async () => {
    const ended = new Map<string, SpanEnd>();
    const result = await within(createSpan('above', ended), () =>
      inSpan({ name: 'below' }, async () => {
        await Promise.resolve();
        return currentSpan()?.spanId;
      }),
    );
    expect(result).to.equal('below');
    expect([...ended]).to.deep.equal([['below', {}]]);
  });

  it('says by what code or class its work failed, and never by what words', async () => {
    const ended = new Map<string, SpanEnd>();
    const failed = Object.assign(new Error('canary'), { code: 'NOT_FOUND' });
    const fail = () => inSpan({ name: 'below' }, () => Promise.reject(failed));
    const thrown = await within(createSpan('above', ended), fail).catch((error: unknown) => error);
    expect(thrown).to.equal(failed);
    expect([...ended]).to.deep.equal([['below', { errorType: 'NOT_FOUND' }]]);
    expect([new TypeError('canary'), 'canary'].map(errorTypeOf)).to.deep.equal(['TypeError', 'string']);
  });

  it('is not begun where there is none above, or one that is not recorded', async () => {
    const ended = new Map<string, SpanEnd>();
    const work = async () => currentSpan()?.spanId;
    expect(await inSpan({ name: 'below' }, work)).to.equal(undefined);
    expect(await within(createSpan('above', ended, false), () => inSpan({ name: 'below' }, work))).to.equal('above');
    expect(ended.size).to.equal(0);
  });
});
