import { useState } from 'preact/hooks';
import { api, ask, askPage, type Schemas } from '../api.ts';
import { useAction, useLoad } from '../load.ts';
import { ErrorNote, Show } from '../parts/show.tsx';
import { useWho } from '../who.ts';

type Role = Schemas['Role'];
type Privilege = Schemas['Privilege'];

const CATEGORIES: Readonly<Record<string, string>> = {
  organization: 'Organization',
  security: 'Security',
  account: 'Account',
  elements: 'Elements and instances',
  formulas: 'Formulas',
  commonObjects: 'Common objects',
};

/** Shows the privileges of each role, and changes them. The first role always has all privileges. */
export function Roles() {
  const loaded = useLoad((signal) => askPage(api.GET('/organizations/roles', { signal })), []);
  return (
    <Show loaded={loaded} lines={12}>
      {({ rows }) => <Matrix key={JSON.stringify(rows)} roles={rows} onSaved={loaded.reload} />}
    </Show>
  );
}

interface MatrixProps {
  readonly roles: readonly Role[];
  readonly onSaved: () => void;
}

type Draft = Readonly<Record<string, ReadonlySet<string>>>;

function Matrix({ roles, onSaved }: MatrixProps) {
  const { session, renew } = useWho();
  const stored: Draft = Object.fromEntries(roles.map((role) => [role.key, keysOf(role)]));
  const [draft, setDraft] = useState(stored);
  const all = roles[0]?.privileges ?? [];
  const categories = [...new Set(all.map(({ category }) => category))];
  const changed = roles.filter(({ key }) => differences(stored[key], draft[key]) > 0);
  const { run, isRunning, error } = useAction(async () => {
    for (const { key } of changed) {
      const body = { privileges: [...(draft[key] ?? [])] };
      await ask(api.PUT('/organizations/roles/{key}', { params: { path: { key } }, body }));
    }
    await renew();
    onSaved();
  });
  const toggle = (role: string, privilege: string) => {
    const left = new Set(draft[role]);
    if (!left.delete(privilege)) left.add(privilege);
    setDraft({ ...draft, [role]: left });
  };
  return (
    <div class="stack">
      <p class="soft">
        Changes take effect immediately for everybody who has the role. You can add and remove only privileges that you
        have.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="table" aria-label="Privileges of the roles" tabIndex={0}>
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">Privilege</th>
              {roles.map(({ key, name, description }) => (
                <th key={key} scope="col" title={description}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          {categories.map((category) => (
            <tbody key={category}>
              <tr>
                <th scope="rowgroup" colSpan={roles.length + 1}>
                  {CATEGORIES[category] ?? category}
                </th>
              </tr>
              {all
                .filter((privilege) => privilege.category === category)
                .map((privilege) => (
                  <tr key={privilege.key}>
                    <td>
                      {privilege.name} <code class="soft small minor">{privilege.key}</code>
                    </td>
                    {roles.map((role) => (
                      <td key={role.key}>
                        <Cell
                          role={role}
                          privilege={privilege}
                          isGiven={draft[role.key]?.has(privilege.key) === true}
                          isOwn={session.privileges.includes(privilege.key)}
                          onToggle={() => toggle(role.key, privilege.key)}
                        />
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          ))}
        </table>
      </section>
      <ErrorNote error={error} />
      <div class="row end footing">
        <span role="status" class="soft">
          {changed.map(({ key, name }) => `${name}: ${differences(stored[key], draft[key])} changed`).join(' · ')}
        </span>
        <button type="button" disabled={changed.length === 0 || isRunning} onClick={() => setDraft(stored)}>
          Discard
        </button>
        <button type="button" class="main" disabled={changed.length === 0 || isRunning} onClick={() => run()}>
          Save the roles
        </button>
      </div>
    </div>
  );
}

interface CellProps {
  readonly role: Role;
  readonly privilege: Privilege;
  readonly isGiven: boolean;
  readonly isOwn: boolean;
  readonly onToggle: () => void;
}

function Cell({ role, privilege, isGiven, isOwn, onToggle }: CellProps) {
  const refusal =
    role.key === 'org-admin'
      ? 'This role always has every privilege.'
      : isOwn
        ? undefined
        : 'None of your roles has this privilege.';
  return (
    <input
      type="checkbox"
      aria-label={`${role.name}: ${privilege.name}`}
      checked={isGiven}
      disabled={refusal !== undefined}
      title={refusal}
      onChange={onToggle}
    />
  );
}

function keysOf({ privileges }: Role): ReadonlySet<string> {
  return new Set(privileges.map(({ key }) => key));
}

function differences(left: ReadonlySet<string> = new Set(), right: ReadonlySet<string> = new Set()): number {
  return [...left].filter((key) => !right.has(key)).length + [...right].filter((key) => !left.has(key)).length;
}
