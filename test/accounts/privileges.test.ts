import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ALL_PRIVILEGES, ROLE_KEYS, ROLES } from '../../src/accounts/privileges.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/reference/roles.md'), 'utf8');

describe('docs/reference/roles.md', () => {
  const [heading = '', ...rows] = PAGE.split('\n')
    .filter((line) => /^\| (?:privilege|`\w+`) \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map(([, privilege = '', , ...roles]) => ({ privilege, roles: roles.slice(0, ROLE_KEYS.length) }));

  it('lists every privilege, with the roles that have it', () => {
    expect(Object(heading).roles).to.deep.equal(ROLE_KEYS);
    const expected = ALL_PRIVILEGES.map((privilege) => ({
      privilege,
      roles: ROLE_KEYS.map((role) => (ROLES[role].privileges.some((each) => each === privilege) ? 'yes' : '')),
    }));
    expect(rows).to.deep.equal(expected);
  });
});
