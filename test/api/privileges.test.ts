import { expect } from 'chai';
import { ACCESS, type Access } from '../../src/api/access.ts';
import type { ApiOperationId } from '../../src/api/operation.ts';

/** Decided apart from the table that the service and the matrix of access read. The second of two is for the whole organization. */
const NEEDED: Readonly<Partial<Record<ApiOperationId, string>>> = {
  createAccount: 'manageOrganization',
  createOrganizationAccount: 'manageOrganization',
  deleteAccount: 'manageOrganization',
  updateAccount: 'editAccount',
  setConnectOrigins: 'manageOrganization',
  setConnectBranding: 'manageOrganization',
  listOrganizationUsers: 'viewOrganizationUsers',
  createOrganizationUser: 'addOrganizationUsers',
  getOrganizationUser: 'viewOrganizationUsers',
  updateOrganizationUser: 'editOrganizationUsers',
  deleteOrganizationUser: 'deleteOrganizationUsers',
  listAccountUsers: 'viewAccountUsers',
  createAccountUser: 'addAccountUsers',
  getAccountUser: 'viewAccountUsers viewOrganizationUsers',
  replaceAccountUser: 'editAccountUsers editOrganizationUsers',
  deleteAccountUser: 'deleteAccountUsers deleteOrganizationUsers',
  getUser: 'viewAccountUsers viewOrganizationUsers',
  updateUser: 'editAccountUsers editOrganizationUsers',
  deleteUser: 'deleteAccountUsers deleteOrganizationUsers',
  listUserRoles: 'viewAccountUsers viewOrganizationUsers',
  getUserRole: 'viewAccountUsers viewOrganizationUsers',
  grantUserRole: 'editAccountUsers editOrganizationUsers',
  revokeUserRole: 'editAccountUsers editOrganizationUsers',
  listRoles: 'configureRoles',
  replaceRole: 'configureRoles',
};

describe('the privilege that an operation needs', () => {
  it('is the one that was decided', () => {
    const needed = Object.keys(NEEDED).map((id) => {
      const { privilege, user }: Access = ACCESS[id as ApiOperationId];
      return [id, [privilege ?? [user?.ofAccount ?? [], user?.ofOrganization ?? []]].flat(2).join(' ')];
    });
    expect(Object.fromEntries(needed)).to.deep.equal(NEEDED);
  });
});
