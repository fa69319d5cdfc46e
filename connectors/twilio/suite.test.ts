import { describeConnector } from '#connector/suite';
import twilio from './index.ts';
import { createSimulator, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(twilio, createSimulator, {
  folder: import.meta.dirname,
  configuration: DEMO_CONFIGURATION,
  writes: {
    messages: {
      create: (number) => ({
        from: '+15005550006',
        to: `+1555222${1000 + number}`,
        body: `Hello ${number}, "O'Brien" 😀`,
      }),
      // An update can only empty the body.
      freeTexts: [],
    },
    calls: {
      create: (number) => ({
        from: '+15005550006',
        to: `+1555222${1000 + number}`,
        twiml: '<Response><Say>Good morning & good night</Say></Response>',
      }),
      neverShown: ['twiml'],
      freeTexts: [],
    },
  },
});
