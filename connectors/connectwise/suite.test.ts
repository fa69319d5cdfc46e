import { describeConnector } from '#connector/suite';
import connectwise from './index.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(connectwise, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: {
    incidents: {
      create: (number) => ({
        summary: `New ${number} O'Neil "x"`,
        'company.id': 250,
        initialDescription: 'It smokes.',
      }),
      neverShown: ['initialDescription'],
      freeTexts: ['externalXRef'],
    },
    organizations: {
      create: (number) => ({ identifier: `New${number}`, name: `New ${number} O'Neil`, city: 'Tampa' }),
      freeTexts: ['website'],
    },
    contacts: {
      create: (number) => ({ firstName: `New ${number}`, lastName: "O'Neil", 'company.id': 250 }),
      freeTexts: ['title', 'lastName'],
    },
    configurations: {
      create: (number) => ({ name: `New ${number}`, 'type.id': 1, 'company.id': 250, vendorNotes: "O'Neil" }),
      freeTexts: ['notes'],
    },
    opportunities: {
      create: (number) => ({
        ...{ name: `New ${number}`, expectedCloseDate: '2026-12-01T00:00:00Z', notes: "O'Neil" },
        ...{ 'company.id': 256, 'contact.id': 1006, 'primarySalesRep.id': 1 },
      }),
      freeTexts: ['notes'],
    },
    'time-entries': {
      create: (number) => ({
        ...{ timeStart: '2026-01-31T08:00:00Z', timeEnd: '2026-01-31T09:30:00Z', notes: `New ${number}` },
        ...{ chargeToId: 5001, chargeToType: 'ServiceTicket' },
      }),
      freeTexts: ['notes'],
    },
    fields: {
      create: (number) => ({
        ...{ podId: 1, caption: `New ${number}`, sequenceNumber: 100 + number },
        ...{ fieldTypeIdentifier: 'Text', entryTypeIdentifier: 'EntryField' },
      }),
      freeTexts: ['helpText'],
    },
  },
});
