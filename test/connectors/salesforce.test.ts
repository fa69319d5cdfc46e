import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from '../../connectors/salesforce/simulator.ts';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { HOSTILE_TEXTS } from '../connector-suite/literals.ts';
import { type ConnectorSuite, describeConnector, startTarget, type Target } from '../connector-suite.ts';

/** Blanks around a text are not kept, and a text of nothing else is null. */
const alteredTexts = HOSTILE_TEXTS.filter((text) => text.trim() !== text || text === '');

const writes: NonNullable<ConnectorSuite['writes']> = {
  Account: {
    alteredTexts,
    create: (number) => ({
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
    create: (number) => ({ FirstName: 'New', LastName: `Person ${number}`, Birthdate: '1990-01-31', DoNotCall: true }),
    freeTexts: ['FirstName', 'LastName', 'MailingCity'],
  },
  Opportunity: {
    alteredTexts,
    create: (number) => ({ Name: `Deal ${number}`, StageName: 'Prospecting', CloseDate: '2024-02-29', Amount: 0.1 }),
    freeTexts: ['Name', 'Description', 'StageName'],
  },
  Task: {
    alteredTexts,
    create: (number) => ({ Subject: `Call ${number}`, ActivityDate: '2024-02-29' }),
    freeTexts: ['Subject', 'Description'],
  },
  ContentVersion: {
    alteredTexts,
    create: (number) => ({ Title: `File ${number}`, PathOnClient: 'new.txt' }),
    freeTexts: ['Title'],
  },
  Site__c: {
    alteredTexts,
    create: (number) => ({ Name: `Site ${number}`, Position__Latitude__s: 59.5 }),
    freeTexts: ['Name'],
  },
};

const configuration = {
  ...DEMO_CONFIGURATION,
  'oauth.api.key': 'demo-client',
  'oauth.api.secret': 'demo-secret',
  'oauth.user.token': DEMO_ACCESS_TOKEN,
  simulator: true,
};

describeConnector({
  name: 'salesforce, with text left to it',
  start: () => startTarget({ element: 'salesforce', configuration: { ...configuration, 'text.exact': true } }),
  writes,
  ownTextOrder: true,
});

describeConnector({
  name: 'salesforce on an account where neither accents nor blanks count',
  start: startOnLooseAccount,
  writes,
  ownTextOrder: true,
});

/** Salesforce under another key, with another simulator. */
async function startOnLooseAccount(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-connectors-'));
  const original = pathToFileURL(join(OWN_CONNECTORS, 'salesforce')).href;
  await mkdir(join(folder, 'loose'));
  const index = `
import { defineConnector } from '#connector';
import original from '${original}/index.ts';
export default defineConnector({ ...original, key: 'loose', id: 990100 });
`;
  const simulator = `
import { createSimulator as create } from '${original}/simulator.ts';
export const createSimulator = (options) => create({ ...options, text: 'ignoring accents and blanks' });
`;
  await writeFile(join(folder, 'loose', 'index.ts'), index);
  await writeFile(join(folder, 'loose', 'simulator.ts'), simulator);
  const target = await startTarget({ element: 'loose', configuration, connectorsPath: folder });
  const stop = async () => {
    await target.stop();
    await rm(folder, { recursive: true });
  };
  return { ...target, stop };
}
