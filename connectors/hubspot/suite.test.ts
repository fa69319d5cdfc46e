import { describeConnector, loggedIn, type WriteSample } from '#connector/suite';
import hubspot from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const hs_timestamp = '2024-02-29T08:30:00Z';

/** An empty text empties a property. */
const alteredTexts = [''];
const sample = (create: WriteSample['create'], ...freeTexts: readonly string[]) => ({
  create,
  freeTexts,
  alteredTexts,
});

describeConnector(hubspot, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    contacts: sample(
      (number) => ({ email: `new${number}@example.com`, firstname: 'Zoë', interests: ['golf', 'chess'], is_vip: true }),
      ...['firstname', 'lastname', 'company', 'favorite_color'],
    ),
    companies: sample((number) => ({ name: `It's ${number}`, numberofemployees: 7 }), 'name', 'description'),
    deals: sample((number) => ({ dealname: `Deal ${number}`, amount: 15.05, closedate: hs_timestamp }), 'dealname'),
    tickets: sample((number) => ({ subject: `It's ${number}`, hs_ticket_priority: 'HIGH' }), 'subject', 'content'),
    products: sample((number) => ({ name: `Product ${number}`, price: 1.5 }), 'name', 'description'),
    line_items: sample((number) => ({ name: `Line ${number}`, quantity: 2 }), 'name'),
    notes: sample((number) => ({ hs_note_body: `Note ${number}`, hs_timestamp }), 'hs_note_body'),
    meetings: sample((number) => ({ hs_meeting_title: `Meeting ${number}`, hs_timestamp }), 'hs_meeting_title'),
    calls: sample((number) => ({ hs_call_title: `Call ${number}`, hs_call_duration: 6000 }), 'hs_call_title'),
    emails: sample((number) => ({ hs_email_subject: `E-mail ${number}`, hs_timestamp }), 'hs_email_subject'),
    tasks: sample((number) => ({ hs_task_subject: `Task ${number}`, hs_timestamp }), 'hs_task_subject'),
    pets: sample((number) => ({ name: `Pet ${number}`, born: '2024-02-29', weight: 4.2 }), 'name'),
  },
});
