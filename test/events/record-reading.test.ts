import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { AppError } from '../../src/errors.ts';
import type { RecordTypes } from '../../src/events/endpoints/event-where.ts';
import { createRecordReading, type RecordReadingNeighbours } from '../../src/events/endpoints/records.ts';
import { silentLog } from '../support/database.ts';
import { newEvent, plainSource } from '../support/events.ts';

const FIELDS: RecordTypes = { amount: { type: 'number' } };

function readingWith(more: Partial<RecordReadingNeighbours>) {
  const signals: AbortSignal[] = [];
  const asked: string[] = [];
  const open = createRecordReading({
    // Nothing of an instance is read here, except that it exists.
    findInstance: async () => ({ instance: {} }) as never,
    getRecord: async ({ signal }, id) => {
      signals.push(signal);
      return { record: { id }, providerCalls: 1 };
    },
    getFields: async ({ signal, objectName }, isMapped) => {
      signals.push(signal);
      asked.push(`${objectName} ${isMapped}`);
      return FIELDS;
    },
    ...{ clock: SYSTEM_CLOCK, log: silentLog },
    ...more,
  });
  return { reading: open(), signals, asked };
}

describe('reading for filters', () => {
  const source = plainSource(1, 1);

  it('reads a record while the time lasts, and ends the count of its memory', async () => {
    const { reading, signals } = readingWith({});
    expect(await reading.record(newEvent(1), source)).to.deep.equal({ id: '7' });
    await reading.types(newEvent(1), source);
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, true]);
  });

  it('reads at most 25 records, and none of a deleted one', async () => {
    const { reading } = readingWith({});
    expect(await reading.record(newEvent(1, { type: 'orders.deleted' }), source)).to.equal(undefined);
    const records = [];
    for (let read = 0; read < 30; read++) records.push(await reading.record(newEvent(1), source));
    expect(records.filter((record) => record !== undefined)).to.have.length(25);
  });

  it('reads the fields of an object once, those of a mapped one apart', async () => {
    const { reading, asked } = readingWith({});
    const mapped = newEvent(1, { vendorObjectName: 'Orders' });
    for (const event of [newEvent(1), newEvent(1), mapped, mapped])
      expect(await reading.types(event, source)).to.equal(FIELDS);
    expect(asked).to.deep.equal(['orders false', 'orders true']);
  });

  it('knows no types of an object that nothing describes, and none for now where the provider does not respond', async () => {
    const fail = (error: Error) => readingWith({ getFields: () => Promise.reject(error) }).reading;
    const types = (error: Error) => fail(error).types(newEvent(1), source);
    expect(await types(new AppError('NOT_FOUND', 'no such object'))).to.equal(undefined);
    expect(await types(new AppError('PROVIDER_UNAVAILABLE', 'down'))).to.equal('unknown');
    expect(await types(new Error('anything else'))).to.equal('unknown');
  });

  it('looks for the fields of at most 25 objects', async () => {
    const { reading } = readingWith({});
    const found = [];
    for (let object = 0; object < 30; object++)
      found.push(await reading.types(newEvent(1, { objectName: `o${object}` }), source));
    expect(found.filter((types) => types === FIELDS)).to.have.length(25);
    expect(found.at(-1)).to.equal('unknown');
  });

  it('reads nothing more when the time of the call is over', async () => {
    let nowMs = 0;
    const clock = { ...SYSTEM_CLOCK, steady: () => nowMs };
    const { reading } = readingWith({ clock });
    expect(await reading.record(newEvent(1), source)).to.deep.equal({ id: '7' });
    nowMs = 8_000;
    expect(await reading.record(newEvent(1), source)).to.equal(undefined);
    expect(await reading.types(newEvent(1), source)).to.equal('unknown');
  });
});
