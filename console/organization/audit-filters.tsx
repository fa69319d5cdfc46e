import { useLocation } from 'preact-iso';
import { Field, readText } from '../parts/form.tsx';
import { withQuery } from '../parts/query.ts';

const KINDS = [
  ['', 'everything'],
  ['authentication', 'log-ins, refusals and secrets'],
  ['element-instances', 'instances'],
  ['elements', 'elements and OAuth proxies'],
  ['users', 'users and roles'],
  ['settings', 'settings, accounts, organization'],
] as const;

const NAMES = ['kind', 'user', 'account', 'from', 'to', 'where'] as const;

/** Shows the controls of the filter of the audit log. Submitting them stores their values in the address. */
export function AuditFilters() {
  const { path, query, route } = useLocation();
  const isFiltered = NAMES.some((name) => query[name]);
  return (
    <form
      key={JSON.stringify(query)}
      class="card filters"
      aria-label="Filter the audit log"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        route(withQuery(path, Object.fromEntries(NAMES.map((name) => [name, readText(form, name)]))));
      }}
    >
      <label>
        Kind
        <select name="kind">
          {KINDS.map(([key, title]) => (
            <option key={key} value={key} selected={key === (query.kind ?? '')}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <Field label="User" name="user" value={query.user} placeholder="e-mail or id" />
      <Field label="Account" name="account" value={query.account} placeholder="id or external id" />
      <Field label="From" name="from" type="datetime-local" value={query.from} />
      <Field label="To" name="to" type="datetime-local" value={query.to} />
      <Field label="Where" name="where" value={query.where} placeholder="status >= 400 AND action = 'delete'" />
      <div class="row">
        <button type="submit">Filter</button>
        {isFiltered && (
          <button type="button" class="plain" onClick={() => route(path)}>
            Show all
          </button>
        )}
      </div>
    </form>
  );
}
