import { expect } from 'chai';
import type { ListInput, PushedField, Value } from '#connector';
import { prepareQuery } from '../../src/where/query.ts';
import { type TimeOffFilter, timeOff, timeOffTranslator } from './time-off.ts';

const { and, compare, in: among } = timeOffTranslator;

describe('the filter of time off', () => {
  it('turns bounds of either date into the window', () => {
    expect(compare?.(field('end'), '>=', day('2026-01-01'))).to.deep.equal({ start: '2026-01-01' });
    expect(compare?.(field('start'), '>', day('2026-01-01'))).to.deep.equal({ start: '2026-01-01' });
    expect(compare?.(field('start'), '<=', day('2026-01-31'))).to.deep.equal({ end: '2026-01-31' });
    expect(compare?.(field('end'), '<', day('2026-01-31'))).to.deep.equal({ end: '2026-01-31' });
    expect(compare?.(field('start'), '=', day('2026-01-15'))).to.deep.equal({ start: '2026-01-15', end: '2026-01-15' });
  });

  it('narrows the window', () => {
    const filter = and?.([
      { start: '2026-01-01', employeeId: '5' },
      { start: '2026-01-10', end: '2026-03-01' },
      { end: '2026-02-01' },
    ]);
    expect(filter).to.deep.equal({ start: '2026-01-10', end: '2026-02-01', employeeId: '5' });
  });

  it('asks for one of two wants for an input, and checks the other here', () => {
    const { plan } = prepareQuery({ where: 'employeeId = 5 AND typeId IN (78, 79) AND typeId = 79' }, timeOff);
    expect(plan.native).to.deep.equal({ employeeId: '5', type: '79' });
    expect(plan.decisions.map(({ pushed }) => pushed)).to.deep.equal([true, false, true]);
  });

  it('lists types and statuses, separated by commas', () => {
    const ids: Value[] = ['78', '79'].map((text) => ({ kind: 'number', text }));
    expect(among?.(field('typeId'), ids, false)).to.deep.equal({ type: '78,79' });
    expect(compare?.(field('status'), '=', { kind: 'string', value: 'approved' })).to.deep.equal({
      status: 'approved',
    });
    expect(compare?.(field('employeeId'), '=', { kind: 'number', text: '5' })).to.deep.equal({ employeeId: '5' });
  });
});

describe('listing time off', () => {
  it('asks for all times where none is said', () => {
    expect(requestOf({})).to.deep.equal({
      path: '/api/v1/time_off/requests',
      query: { start: '1900-01-01', end: '2199-12-31' },
    });
  });

  it('asks below an employee for that employee, whatever the filter says', () => {
    expect(requestOf({ parentId: '7', filter: { start: '2026-01-01', employeeId: '9' } })).to.deep.equal({
      path: '/api/v1/time_off/requests',
      query: { start: '2026-01-01', end: '2199-12-31', employeeId: '7' },
    });
  });

  it('pages through the answer by id', () => {
    if (timeOff.list === undefined || 'run' in timeOff.list) throw new Error('Two halves were expected.');
    const body = [{ id: 12 }, { id: 9 }, { id: 10 }];
    const page = timeOff.list.read({ status: 200, headers: {}, body }, { ...INPUT, limit: 2 });
    expect(page).to.deep.equal({ records: [{ id: 9 }, { id: 10 }], total: 3, next: '2' });
  });
});

const INPUT: ListInput<TimeOffFilter> = { parameters: {}, fields: [], orderBy: [], limit: 20 };

function requestOf(input: Partial<ListInput<TimeOffFilter>>) {
  if (timeOff.list === undefined || 'run' in timeOff.list) throw new Error('Two halves were expected.');
  return timeOff.list.request({ ...INPUT, ...input }, {});
}

function field(name: string): PushedField {
  const spec = timeOff.fields[name];
  if (spec === undefined) throw new Error(`There is no field ${name}.`);
  return { ...spec, name, native: spec.native ?? name };
}

function day(text: string): Value {
  return { kind: 'date', text };
}
