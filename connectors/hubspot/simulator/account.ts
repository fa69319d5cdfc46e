import { type Call, json, type Routes, type TableRow } from '#connector/simulator';
import { takeAfter } from './limits.ts';
import { PORTAL_ID } from './login.ts';
import { describeKind, describeProperty, findKindName, KINDS_BY_NAME } from './properties.ts';
import type { Records } from './records.ts';

/** Returns the routes of the account: its details, its owners, and the descriptions of its objects and properties. */
export function createAccountRoutes({ owners }: Records): Routes {
  const isArchived = ({ query }: Call) => query.get('archived') === 'true';
  return {
    'GET /account-info/v3/details': () =>
      json({
        ...{ portalId: PORTAL_ID, accountType: 'STANDARD', timeZone: 'US/Eastern', companyCurrency: 'USD' },
        ...{ additionalCurrencies: [], utcOffset: '-05:00', utcOffsetMilliseconds: -18_000_000 },
        ...{ uiDomain: 'app.hubspot.com', dataHostingLocation: 'na1' },
      }),
    'GET /crm/v3/properties/{type}': (call) => {
      const { properties = {} } = KINDS_BY_NAME[findKindName(call.params.type)] ?? {};
      return json({ results: isArchived(call) ? [] : Object.entries(properties).map(describeProperty) });
    },
    // Only custom objects are listed.
    'GET /crm-object-schemas/v3/schemas': (call) => json({ results: isArchived(call) ? [] : [describeKind('pets')] }),
    'GET /crm/v3/owners': (call) => {
      const email = call.query.get('email');
      const rows = (owners?.table.rows() ?? [])
        .filter((row) => row.archived === isArchived(call))
        .filter((row) => email === null || row.email === email);
      const { results, paging } = takeAfter(rows, call, { idOf: ({ id }) => String(id), usual: 100, most: 500 });
      return json({ results: results.map(showOwner), paging });
    },
    'GET /crm/v3/owners/{id}': (call) => json(showOwner(findOwner(owners, call))),
  };
}

function findOwner(owners: Records[string] | undefined, { params: { id = '' }, query }: Call): TableRow {
  const member = query.get('idProperty') ?? 'id';
  const row = owners?.table.rows().find((each) => String(each[member]) === id);
  return row ?? owners?.get('none') ?? {};
}

/** Members without a value are left out. */
function showOwner(row: TableRow): TableRow {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
