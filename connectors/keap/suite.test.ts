import { describeConnector, loggedIn } from '#connector/suite';
import keap from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const START = '2026-03-02T09:00:00Z';

describeConnector(keap, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    appointments: {
      create: (number) => ({
        title: `Visit ${number}`,
        location: "O'Neil's",
        contact_id: '1',
        start_time: START,
        end_time: '2026-03-02T10:00:00Z',
        remind_time: 15,
      }),
    },
    contacts: {
      create: (number) => ({
        given_name: `New ${number}`,
        family_name: "O'Neil",
        birth_date: '1984-02-29',
        email_addresses: [{ email: `new${number}@example.com`, field: 'EMAIL1' }],
      }),
      // Keap adds what it knows of the address to the response.
      neverShown: ['email_addresses'],
      freeTexts: ['given_name', 'family_name'],
    },
    emails: {
      create: (number) => ({
        subject: `News ${number}`,
        contact_id: '1',
        sent_to_address: 'a@example.com',
        plain_content: 'Grüße, "O\'Neil" 😀',
        sent_time: START,
      }),
    },
    files: { create: () => ({ contact_id: '1', is_public: false }) },
    opportunities: {
      create: (number) => ({
        opportunity_title: `Deal ${number}`,
        'contact.id': '1',
        'stage.id': '18',
        projected_revenue_low: 12.5,
        next_action_time: START,
      }),
    },
    orders: {
      create: (number) => ({
        title: `Order ${number}`,
        'contact.id': '1',
        order_time: START,
        order_type: 'ONLINE',
        notes: "O'Neil",
      }),
    },
    tags: { create: (number) => ({ name: `New tag ${number}`, description: "O'Neil" }) },
    tasks: {
      create: (number) => ({
        title: `Call ${number}`,
        assigned_to_user_id: '1',
        due_time: START,
        priority: 'ESSENTIAL',
      }),
    },
  },
});
