import { type Inputs, inputs } from '#connector';

/** The query of a time off listing. */
export type TimeOffFilter = Inputs;

/**
 * A request does not end before it begins, so a bound of either date bounds the other: `start` finds the requests that end on its day
 * or later, `end` those that begin on its day or earlier. Everything is pushed as a superset: one call answers all rows, so
 * checking them again costs nothing.
 */
export const timeOffTranslator = inputs({
  id: 'id',
  employeeId: 'employeeId',
  typeId: 'type',
  status: 'status',
  start: { from: 'start', to: 'end' },
  end: { from: 'start', to: 'end' },
});
