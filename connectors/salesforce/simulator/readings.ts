import { fault, json, type Routes, type TableRow } from '#connector/simulator';
import { makeId, numberOfId, writeInstant } from './ids.ts';

/** Many records that are made of their numbers whenever they are read: a million of them are not in memory. */

export const READINGS = 'Reading__c';
const KEY_PREFIX = 'a01';
export const MOST_READINGS = 10_000_000;
const USUAL = 40;

export interface Readings {
  /** In the order of their ids: those that pass, or all. */
  readonly find: (test?: (row: TableRow) => boolean) => ReadingList;
  readonly get: (id: string) => TableRow | undefined;
  readonly commands: Routes;
}

interface ReadingList {
  readonly length: number;
  readonly at: (index: number) => TableRow;
}

/** `POST /simulate/readings` with `{"count": 1000000}` says how many there are. */
export function createReadings(): Readings {
  let count = USUAL;
  return {
    find: (test) => (test === undefined ? { length: count, at: makeReading } : pass(count, test)),
    get: (id) => {
      const number = numberOfId(KEY_PREFIX, id);
      return number === undefined || number < 1 || number > count ? undefined : makeReading(number - 1);
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
    },
  };
}

function pass(count: number, test: (row: TableRow) => boolean): ReadingList {
  const passed: number[] = [];
  for (let index = 0; index < count; index++) if (test(makeReading(index))) passed.push(index);
  return { length: passed.length, at: (place) => makeReading(passed[place] ?? 0) };
}

const CITIES = ['Oslo', 'Zürich', 'São Paulo', null, 'Kraków'];
const KINDS = ['Heat', 'Power', 'Water'];
const NOTES = ['fine', 'said "no"', 'a, b', 'two\nlines', null, '=1+1', '', '日本'];
const START_MS = Date.parse('2015-01-01T00:00:00Z');

function makeReading(index: number): TableRow {
  const takenMs = START_MS + index * 61_000;
  const takenAt = writeInstant(takenMs);
  return {
    Id: makeId(KEY_PREFIX, index + 1),
    IsDeleted: false,
    CreatedDate: takenAt,
    LastModifiedDate: takenAt,
    SystemModstamp: takenAt,
    Name: `Reading ${index}`,
    Serial__c: `S-${index}`,
    City__c: CITIES[index % CITIES.length],
    Note__c: NOTES[index % NOTES.length] || null,
    Kind__c: KINDS[index % KINDS.length],
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
