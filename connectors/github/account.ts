import { type Config, type ConfigField, notFound, settings } from '#connector';

/** The configuration keys of the owner, and of one of its repositories. */
export const OWNER = 'github.owner';
export const REPOSITORY = 'github.repository';
/** The configuration key of the kind of the owner, which Causeway reads from GitHub. */
export const OWNER_KIND = 'github.owner.kind';

export const CONFIGURATION = [
  {
    key: OWNER,
    label: 'Owner',
    type: 'string',
    description: 'The login of the organization or the user whose repositories the instance reads.',
    required: true,
    pattern: /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/,
    example: 'octo-org',
    setup: ['Open a repository on GitHub.', 'Copy the name between `github.com/` and the next slash.'],
  },
  {
    key: REPOSITORY,
    label: 'Repository',
    type: 'string',
    description: 'The name of one repository of the owner. Without it, the instance has the issues of all of them.',
    pattern: /^[\w.-]{1,100}$/,
    example: 'hello-world',
    setup: ['Open the repository on GitHub.', 'Copy the last part of its address.'],
  },
  {
    key: OWNER_KIND,
    label: 'Kind of owner',
    type: 'string',
    description:
      'Whether the owner is an organization, a user, or the user of the token. Causeway reads it from GitHub.',
  },
] as const satisfies readonly ConfigField[];

const setting = settings(CONFIGURATION);

export const ownerOf = (config: Config): string => setting(config, OWNER);
export const repositoryOf = (config: Config): string | undefined => setting(config, REPOSITORY);

/** `self` is the user of the token, who also sees private repositories. */
export type OwnerKind = 'organization' | 'user' | 'self';

export function ownerKindOf(config: Config): OwnerKind {
  const kind = setting(config, OWNER_KIND);
  return kind === 'organization' || kind === 'self' ? kind : 'user';
}

/** A record of a repository: its repository, and its own number or name there. */
interface Place {
  readonly repository: string;
  readonly key: string;
}

/** Returns the id of a record. Numbers of issues are unique in a repository only. */
export function idAt(repository: string, key: number | string): string {
  return `${repository}-${key}`;
}

/**
 * Returns the place of a record.
 * @throws AppError NOT_FOUND for a text that is no such id
 */
export function placeOf(id: string): Place {
  const [, repository, key] = /^([\w.-]{1,100})-(\d{1,15})$/.exec(id) ?? [];
  if (repository === undefined || key === undefined) throw notFound(`GitHub has no record '${id}'.`);
  return { repository, key };
}
