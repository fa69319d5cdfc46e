import { protectedId } from './form.ts';

export interface User {
  readonly id: string;
  readonly loginId: string;
  readonly name: string;
  /** Web Services Admin: who may see what others own. */
  readonly isAdmin: boolean;
  readonly isTestUser: boolean;
  readonly currency: string;
  readonly country: string;
  readonly subdivision: string | null;
  readonly reimbursement: string;
  /** Their expense group, and its default policy. */
  readonly group: string;
  readonly policy: string;
}

export const ADMINISTRATOR: User = {
  id: '76459ad3-0000-4000-8000-000000000001',
  loginId: 'ws.admin@example.com',
  name: "Zoë O'Brien",
  isAdmin: true,
  isTestUser: false,
  currency: 'USD',
  country: 'US',
  subdivision: 'US-WA',
  reimbursement: 'CNQRPAY',
  group: protectedId('group', 'United States'),
  policy: protectedId('policy', 'United States'),
};

export const TRAVELER: User = {
  id: '76459ad3-0000-4000-8000-000000000002',
  loginId: 'J.Traveler+1@example.com',
  name: 'Müller & Söhne, <Jürgen>',
  isAdmin: false,
  isTestUser: true,
  currency: 'EUR',
  country: 'DE',
  subdivision: null,
  reimbursement: 'APCHECK',
  group: protectedId('group', 'Deutschland'),
  policy: protectedId('policy', 'Deutschland'),
};

export const USERS: readonly User[] = [ADMINISTRATOR, TRAVELER];
