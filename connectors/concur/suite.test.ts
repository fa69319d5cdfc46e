import { describeConnector, loggedIn } from '#connector/suite';
import concur from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(concur, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    reports: {
      create: (number) => ({
        ...{ name: `Trip ${number} "O'Brien"`, userDefinedDate: '2024-02-29', purpose: 'Fair', lastComment: 'Late' },
        custom1: { Code: null, ListItemID: null, Type: 'Text', Value: `Größe ${number}` },
      }),
      neverShown: ['purpose'],
      freeTexts: ['lastComment'],
    },
  },
});
