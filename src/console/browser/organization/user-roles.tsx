import { api, ask } from '../api.ts';
import { useAction } from '../load.ts';
import { ErrorNote } from '../parts/show.tsx';
import { useWho } from '../who.ts';
import { ROLES, refusalOf } from './roles-of-users.ts';
import { type UserProps, useRefusal } from './user.tsx';

/** Gives and takes roles, at once. */
export function UserRoles({ user, onChanged }: UserProps) {
  const { session } = useWho();
  const oneself = user.id === session.user.id ? 'Nobody changes his own roles.' : undefined;
  const refusal = useRefusal(['editOrganizationUsers', 'editAccountUsers']) ?? oneself;
  const { run, isRunning, error } = useAction(async (key: string, has: boolean) => {
    const params = { path: { emailOrId: String(user.id), key } };
    if (has) await ask(api.PUT('/users/{emailOrId}/roles/{key}', { params }));
    else await ask(api.DELETE('/users/{emailOrId}/roles/{key}', { params }));
    onChanged();
  });
  return (
    <section class="card stack tight" aria-label="Roles of the user">
      <h3>Roles</h3>
      {ROLES.map(({ key, title, says }) => {
        const why = refusal ?? refusalOf(key, session.roles);
        return (
          <label key={key} class="inline" title={why}>
            <input
              type="checkbox"
              checked={user.roles.includes(key)}
              disabled={why !== undefined || isRunning}
              onChange={({ currentTarget }) => run(key, currentTarget.checked)}
            />
            <span>
              {title} <span class="soft small">{says}</span>
            </span>
          </label>
        );
      })}
      {refusal !== undefined && <p class="small soft">{refusal}</p>}
      <ErrorNote error={error} />
    </section>
  );
}
