import { type ChangesInput, type ChangesPage, json, type Operation, type RecordChange } from '#connector';

const ACTIONS: Readonly<Record<string, RecordChange['action']>> = {
  Inserted: 'created',
  Updated: 'updated',
  Deleted: 'deleted',
};

/**
 * Lists the last change of each employee since a time, on a single page. BambooHR returns the times of changes in seconds, so an employee
 * may change again within the second of a change. The next call returns changes within the last seconds. Sources: "Last Change
 * Information", "Gets all updated employee IDs".
 */
export const changedEmployees: Operation<ChangesInput, ChangesPage> = {
  // The times of this endpoint have no fractions.
  request: ({ since }) => ({ path: '/api/v1/employees/changed', query: { since: `${since.slice(0, 19)}Z` } }),
  read: ({ body, headers }) => {
    const nowMs = Date.parse(json.text(headers.date, 'the time of the response'));
    return {
      changes: entriesOf(body)
        .map(toChange)
        .filter(({ at }) => Date.parse(at) < nowMs - UNSETTLED_MS),
    };
  },
};

/** The time of a response is a moment later than the time at which BambooHR read its content. */
const UNSETTLED_MS = 2000;

/** Returns the entries of a response. BambooHR sends an object by employee id, or an empty list if nothing changed. */
function entriesOf(body: unknown): readonly unknown[] {
  const employees = json.at(body, 'employees');
  return Array.isArray(employees) ? employees : Object.values(json.object(employees, 'the changed employees'));
}

function toChange(entry: unknown): RecordChange & { readonly at: string } {
  const action = json.text(json.at(entry, 'action'), 'the action of a change');
  return {
    id: json.key(json.at(entry, 'id'), 'the id of a changed employee'),
    action: ACTIONS[action] ?? 'unknown',
    at: json.text(json.at(entry, 'lastChanged'), 'the time of a change'),
  };
}
