import { type Inputs, inputs } from '#connector';

/** The query of a list of time off requests. */
export type TimeOffFilter = Inputs;

/**
 * Translates conditions on time off requests. A request never ends before it begins, so a bound of one date also bounds the other: `start`
 * finds the requests that end on its day or later, `end` those that begin on its day or earlier. Everything is pushed as a superset: one
 * call returns all rows, so a second check of them costs nothing.
 */
export const timeOffTranslator = inputs({
  id: 'id',
  employeeId: 'employeeId',
  typeId: 'type',
  status: 'status',
  start: { from: 'start', to: 'end' },
  end: { from: 'start', to: 'end' },
});
