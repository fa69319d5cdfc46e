import { describeConnector, loggedIn, type WriteSample } from '#connector/suite';
import intercom from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const CONTACT = '6762f0dd1bb69f9f2193bb83';
const sample = (create: WriteSample['create'], ...freeTexts: readonly string[]): WriteSample => ({
  create,
  freeTexts,
});

describeConnector(intercom, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    contacts: sample((number) => ({ role: 'user', email: `new${number}@example.com`, name: 'Zoë' }), 'name'),
    companies: sample(
      (number) => ({ company_id: `new-${number}`, name: `It's ${number}`, size: 7 }),
      'name',
      'industry',
    ),
    conversations: {
      ...sample(() => ({ author_id: CONTACT, author_type: 'user', body: 'Hello' }), 'title'),
      // Intercom returns it as HTML.
      neverShown: ['body'],
    },
    conversation_parts: {
      create: (number) => ({ conversation_id: '515', author_id: '991', author_type: 'admin', body: `It's ${number}` }),
      // Intercom returns it as HTML.
      neverShown: ['body'],
    },
    tickets: sample(
      (number) => ({ ticket_type_id: '1', contact_ids: [CONTACT], title: `It's ${number}`, description: 'Broken' }),
      ...['title', 'description'],
    ),
  },
});
