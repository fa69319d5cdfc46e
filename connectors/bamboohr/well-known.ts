import type { Kind } from './kinds.ts';

type Access = 'read' | 'write' | 'require';

export interface WellKnownField {
  /** Of the employee endpoints, and ours. */
  readonly name: string;
  /** Where the catalogue tells no type. */
  readonly kind: Kind;
  readonly access: Access;
}

/** By the name in the dataset. The sources are in the README. */
export const WELL_KNOWN: ReadonlyMap<string, WellKnownField> = new Map([
  known('eeid', 'id', 'id', 'read'),
  known('employeeNumber', 'employeeNumber', 'opaque', 'write'),
  known('firstName', 'firstName', 'text', 'require'),
  known('middleName', 'middleName', 'opaque', 'write'),
  known('lastName', 'lastName', 'text', 'require'),
  known('preferredName', 'preferredName', 'opaque', 'write'),
  known('status', 'status', 'status', 'read'),
  known('email', 'workEmail', 'opaque', 'write'),
  known('homeEmail', 'homeEmail', 'opaque', 'write'),
  known('workPhone', 'workPhone', 'opaque', 'write'),
  known('mobilePhone', 'mobilePhone', 'opaque', 'write'),
  known('homePhone', 'homePhone', 'opaque', 'write'),
  known('hireDate', 'hireDate', 'date', 'write'),
  known('originalHireDate', 'originalHireDate', 'date', 'write'),
  known('terminationDate', 'terminationDate', 'date', 'read'),
  known('dateOfBirth', 'dateOfBirth', 'date', 'write'),
  known('gender', 'gender', 'opaque', 'write'),
  known('maritalStatus', 'maritalStatus', 'opaque', 'write'),
  known('addressLineOne', 'address1', 'opaque', 'write'),
  known('addressLineTwo', 'address2', 'opaque', 'write'),
  known('city', 'city', 'opaque', 'write'),
  known('state', 'state', 'opaque', 'write'),
  known('zipcode', 'zipcode', 'opaque', 'write'),
  known('country', 'country', 'opaque', 'write'),
  known('jobInformationJobTitle', 'jobTitle', 'opaque', 'write'),
  known('jobInformationDepartment', 'department', 'options', 'write'),
  known('jobInformationDivision', 'division', 'opaque', 'write'),
  known('jobInformationLocation', 'location', 'opaque', 'write'),
  known('jobInformationReportsTo', 'supervisor', 'opaque', 'read'),
  known('supervisorEid', 'supervisorEId', 'opaque', 'read'),
  known('employmentStatus', 'employmentHistoryStatus', 'options', 'write'),
  known('compensationPayRate', 'payRate', 'amount', 'write'),
  known('compensationPayType', 'payType', 'opaque', 'write'),
]);

function known(dataset: string, name: string, kind: Kind, access: Access): readonly [string, WellKnownField] {
  return [dataset, { name, kind, access }];
}
