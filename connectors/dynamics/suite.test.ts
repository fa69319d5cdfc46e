import { describeConnector, loggedIn, type WriteSample } from '#connector/suite';
import dynamics from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const sample = (create: WriteSample['create'], ...freeTexts: readonly string[]): WriteSample => ({ create, freeTexts });

describeConnector(dynamics, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  // The database orders texts by its collation, and ids by the bytes of a GUID.
  ownTextOrder: true,
  writes: {
    account: sample(
      (number) => ({ name: `It's ${number}`, revenue: 1500.05, creditonhold: true, new_score: 4.5 }),
      ...['name', 'description', 'address1_city'],
    ),
    contact: sample(
      (number) => ({ firstname: 'Zoë', lastname: `O'Neil ${number}`, birthdate: '2000-02-29' }),
      'lastname',
    ),
    lead: sample((number) => ({ subject: `Lead ${number}`, lastname: 'Ünal', numberofemployees: 7 }), 'companyname'),
    opportunity: sample((number) => ({ name: `Deal ${number}`, estimatedvalue: 15.05 }), 'name', 'description'),
    incident: sample((number) => ({ title: `Case ${number}`, followupby: '2024-02-29T08:30:00Z' }), 'title'),
    task: sample((number) => ({ subject: `Task ${number}`, percentcomplete: 50 }), 'subject', 'description'),
    systemuser: sample(
      (number) => ({
        firstname: 'Zoë',
        lastname: `User ${number}`,
        domainname: `user${number}@example.com`,
        internalemailaddress: `user${number}@example.com`,
      }),
      ...['firstname', 'lastname', 'jobtitle'],
    ),
    new_pet: sample((number) => ({ new_name: `Pet ${number}`, new_weight: 4.25, new_vaccinated: true }), 'new_name'),
  },
});
