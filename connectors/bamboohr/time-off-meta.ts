import { defineObject, type ListInput, type ListPage, type ProviderResponse } from '#connector';
import { getArray, getObject } from './answer.ts';
import { cursorAt, takePage } from './paging.ts';
import { readInteger } from './values.ts';

/** Short lists that BambooHR answers whole. */
const WHOLE = { maxPageSize: 5000, cursorAt };

export const timeOffTypes = defineObject<never>({
  label: 'Time off types',
  native: 'meta/time_off/types',
  fields: {
    id: { type: 'integer', nullable: false, read: readInteger },
    name: { type: 'string' },
    units: { type: 'string', values: ['hours', 'days'] },
    color: { type: 'string' },
    icon: { type: 'string' },
    source: { type: 'string', values: ['internal', 'remote'] },
  },
  list: { request: () => ({ path: '/api/v1/meta/time_off/types' }), read: readTypes, ...WHOLE },
});

function readTypes({ body }: ProviderResponse, input: ListInput<never>): ListPage {
  const what = 'the time off types';
  return takePage(getArray(getObject(body, what).timeOffTypes, what), input);
}

export const timeOffPolicies = defineObject<never>({
  label: 'Time off policies',
  native: 'meta/time_off/policies',
  fields: {
    id: { type: 'integer', nullable: false, read: readInteger },
    timeOffTypeId: { type: 'integer', read: readInteger },
    name: { type: 'string' },
    type: { type: 'string', values: ['accruing', 'discretionary', 'manual'] },
  },
  list: { request: () => ({ path: '/api/v1/meta/time_off/policies' }), read: readPolicies, ...WHOLE },
});

function readPolicies({ body }: ProviderResponse, input: ListInput<never>): ListPage {
  return takePage(getArray(body, 'the time off policies'), input);
}
