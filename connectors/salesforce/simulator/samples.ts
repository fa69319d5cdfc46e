import { HOSTILE_TEXTS, type TableRow } from '#connector/simulator';
import { DEMO_ACCESS_TOKEN } from './login.ts';

/** Texts that Salesforce does not store as they are: it removes blanks around a text, and a blank text is null. */
const alteredTexts = HOSTILE_TEXTS.filter((text) => text.trim() !== text || text === '');

const sample = (freeTexts: readonly string[], create: (number: number) => TableRow) => ({
  alteredTexts,
  freeTexts,
  create,
});

export const WRITES = {
  // The other texts are ids or addresses, or have fixed values.
  Account: sample(['Name', 'Phone', 'BillingStreet', 'BillingCity', 'Description', 'ExternalKey__c'], (number) => ({
    Name: `New ${number} O'Neil`,
    AnnualRevenue: 12.5,
    FoundedOn__c: '2024-02-29',
    VisitedAt__c: '2024-02-29T08:30:00.000Z',
    Regions__c: ['APAC', 'EMEA'],
  })),
  Contact: sample(['FirstName', 'LastName', 'MailingCity'], (number) => ({
    FirstName: 'New',
    LastName: `Person ${number}`,
    Birthdate: '1990-01-31',
    DoNotCall: true,
  })),
  Opportunity: sample(['Name', 'Description', 'StageName'], (number) => ({
    Name: `Deal ${number}`,
    StageName: 'Prospecting',
    CloseDate: '2024-02-29',
    Amount: 0.1,
  })),
  Task: sample(['Subject', 'Description'], (number) => ({ Subject: `Call ${number}`, ActivityDate: '2024-02-29' })),
  Reading__c: sample(['Name', 'City__c', 'Note__c'], (number) => ({ Name: `Reading ${number}`, Level__c: 0.5 })),
  ContentVersion: sample(['Title'], (number) => ({ Title: `File ${number}`, PathOnClient: 'new.txt' })),
  Site__c: sample(['Name'], (number) => ({ Name: `Site ${number}`, Position__Latitude__s: 59.5 })),
};

/** Configuration of an instance that has logged in at the simulator. */
export const CONNECTED = {
  'api.version': '62.0',
  'instance.url': 'https://acme.my.salesforce.com',
  'oauth.api.key': 'demo-client',
  'oauth.api.secret': 'demo-secret',
  'oauth.user.token': DEMO_ACCESS_TOKEN,
};
