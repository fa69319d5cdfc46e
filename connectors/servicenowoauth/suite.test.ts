import { type CreateSimulator, describeConnector } from '#connector/suite';
import { WRITES } from '../servicenow/samples.ts';
import servicenow from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

// ServiceNow's documents differ about texts: here it reads them in the other way than in the suite of `servicenow`.
const createOther: CreateSimulator = (options) =>
  createSimulator({ ...options, text: 'as written', wildcards: 'active' });

describeConnector(servicenow, createOther, {
  folder: import.meta.dirname,
  configuration: {
    ...DEMO_CONFIGURATION,
    'oauth.user.token': DEMO_ACCESS_TOKEN,
    'oauth.api.key': 'demo-client',
    'oauth.api.secret': CLIENTS['demo-client']?.secret,
    'oauth.callback.url': 'https://app.example.com/callback',
  },
  writes: WRITES,
  ownTextOrder: true,
});
