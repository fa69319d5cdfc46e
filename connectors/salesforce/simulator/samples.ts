import { HOSTILE_TEXTS } from '#connector/simulator';
import { DEMO_ACCESS_TOKEN } from './login.ts';

/** Blanks around a text are not kept, and a text of nothing else is null. */
const alteredTexts = HOSTILE_TEXTS.filter((text) => text.trim() !== text || text === '');

export const WRITES = {
  Account: {
    alteredTexts,
    create: (number: number) => ({
      Name: `New ${number} O'Neil`,
      AnnualRevenue: 12.5,
      FoundedOn__c: '2024-02-29',
      VisitedAt__c: '2024-02-29T08:30:00.000Z',
      Regions__c: ['APAC', 'EMEA'],
    }),
    // The other texts are ids, addresses, or chosen from lists.
    freeTexts: ['Name', 'Phone', 'BillingStreet', 'BillingCity', 'Description', 'ExternalKey__c'],
  },
  Contact: {
    alteredTexts,
    create: (number: number) => ({
      FirstName: 'New',
      LastName: `Person ${number}`,
      Birthdate: '1990-01-31',
      DoNotCall: true,
    }),
    freeTexts: ['FirstName', 'LastName', 'MailingCity'],
  },
  Opportunity: {
    alteredTexts,
    create: (number: number) => ({
      Name: `Deal ${number}`,
      StageName: 'Prospecting',
      CloseDate: '2024-02-29',
      Amount: 0.1,
    }),
    freeTexts: ['Name', 'Description', 'StageName'],
  },
  Task: {
    alteredTexts,
    create: (number: number) => ({ Subject: `Call ${number}`, ActivityDate: '2024-02-29' }),
    freeTexts: ['Subject', 'Description'],
  },
  Reading__c: {
    alteredTexts,
    create: (number: number) => ({ Name: `Reading ${number}`, Level__c: 0.5 }),
    freeTexts: ['Name', 'City__c', 'Note__c'],
  },
  ContentVersion: {
    alteredTexts,
    create: (number: number) => ({ Title: `File ${number}`, PathOnClient: 'new.txt' }),
    freeTexts: ['Title'],
  },
  Site__c: {
    alteredTexts,
    create: (number: number) => ({ Name: `Site ${number}`, Position__Latitude__s: 59.5 }),
    freeTexts: ['Name'],
  },
};

/** Of an instance on the simulator that has logged in. */
export const CONNECTED = {
  'api.version': '62.0',
  'instance.url': 'https://acme.my.salesforce.com',
  'oauth.api.key': 'demo-client',
  'oauth.api.secret': 'demo-secret',
  'oauth.user.token': DEMO_ACCESS_TOKEN,
};
