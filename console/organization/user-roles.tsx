import { useEffect, useState } from 'preact/hooks';
import { api, ask, type Schemas } from '../api.ts';
import { useAction } from '../load.ts';
import { ErrorNote } from '../parts/show.tsx';
import { useRefusal, useWho } from '../who.ts';
import { ROLES, refusalOf } from './roles-of-users.ts';

export interface UserProps {
  readonly user: Schemas['User'];
  readonly onChanged: () => void;
}

/** Grants and revokes roles immediately. */
export function UserRoles({ user, onChanged }: UserProps) {
  const { session } = useWho();
  const oneself =
    user.id === session.user.id ? 'You cannot change your own roles. Ask another administrator.' : undefined;
  const refusal = useRefusal(['editOrganizationUsers', 'editAccountUsers']) ?? oneself;
  /** The clicked role, until the user has it or has it no more. The user may first arrive as an earlier click left it. */
  const [wanted, setWanted] = useState<{ readonly key: string; readonly has: boolean }>();
  useEffect(() => {
    setWanted((clicked) => (clicked && user.roles.includes(clicked.key) === clicked.has ? undefined : clicked));
  }, [user]);
  const { run, isRunning, error } = useAction(async (key: string, has: boolean) => {
    setWanted({ key, has });
    const params = { path: { emailOrId: String(user.id), key } };
    try {
      if (has) await ask(api.PUT('/users/{emailOrId}/roles/{key}', { params }));
      else await ask(api.DELETE('/users/{emailOrId}/roles/{key}', { params }));
    } catch (cause) {
      setWanted(undefined);
      throw cause;
    }
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
              checked={wanted?.key === key ? wanted.has : user.roles.includes(key)}
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
