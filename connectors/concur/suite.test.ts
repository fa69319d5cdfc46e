import { describeConnector } from '#connector/suite';
import concur from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(concur, createSimulator, {
  folder: import.meta.dirname,
  configuration: {
    ...DEMO_CONFIGURATION,
    'oauth.user.token': DEMO_ACCESS_TOKEN,
    'oauth.api.key': 'demo-client',
    'oauth.api.secret': CLIENTS['demo-client']?.secret,
    'oauth.callback.url': 'https://app.example.com/callback',
  },
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
