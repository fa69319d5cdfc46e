import { cycle, fault, json, type Routes, type TableRow, times } from '#connector/simulator';
import { makeId, numberOfId, writeInstant } from './ids.ts';

/** Name of the object whose records are created from their index when they are read, so that a million of them take no memory. */
export const READINGS = 'Reading__c';
const KEY_PREFIX = 'a01';
export const MOST_READINGS = 10_000_000;
const USUAL = 40;

/** Creates the readings. `POST /simulate/readings` with `{"count": 1000000}` sets their number. */
export function createReadings() {
  let count = USUAL;
  return {
    /** Returns the indexes of the matching records, or of all records, in the order of their ids. */
    find: (passes?: (row: TableRow) => boolean): readonly number[] => {
      const all = times(count, (index) => index);
      return passes === undefined ? all : all.filter((index) => passes(makeReading(index)));
    },
    get: (id: string): TableRow | undefined => {
      const number = numberOfId(KEY_PREFIX, id) ?? 0;
      return number < 1 || number > count ? undefined : makeReading(number - 1);
    },
    commands: {
      'POST /simulate/readings': ({ body }) => {
        const { count: wanted } = body.object();
        if (typeof wanted !== 'number' || !Number.isInteger(wanted) || wanted < 0 || wanted > MOST_READINGS) {
          throw fault(400, `Readings are asked for as {"count": 1000000}, at most ${MOST_READINGS}.`);
        }
        count = wanted;
        return json({ count });
      },
    } satisfies Routes,
  };
}

const city = cycle(['Oslo', 'Zürich', 'São Paulo', null, 'Kraków']);
const kind = cycle(['Heat', 'Power', 'Water']);
const note = cycle(['fine', 'said "no"', 'a, b', 'two\nlines', null, '=1+1', null, '日本']);
const START_MS = Date.parse('2015-01-01T00:00:00Z');

export function makeReading(index: number): TableRow {
  const takenAt = writeInstant(START_MS + index * 61_000);
  return {
    Id: makeId(KEY_PREFIX, index + 1),
    IsDeleted: false,
    CreatedDate: takenAt,
    LastModifiedDate: takenAt,
    SystemModstamp: takenAt,
    Name: `Reading ${index}`,
    Serial__c: `S-${index}`,
    City__c: city(index),
    Note__c: note(index),
    Kind__c: kind(index),
    Account__c: makeId('001', (index % 30) + 1),
    Count__c: index % 7 === 0 ? null : index,
    Level__c: (index % 1000) / 8,
    Lowest__c: -(index % 100) / 4,
    Highest__c: index * 1000.5,
    Cost__c: (index % 100_000) / 100,
    Share__c: index % 101,
    IsEstimated__c: index % 4 === 0,
    TakenOn__c: takenAt.slice(0, 10),
    TakenAt__c: takenAt,
  };
}
