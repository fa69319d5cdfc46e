import { describeConnector, loggedIn } from '#connector/suite';
import slack from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CHANNEL, DEMO_CONFIGURATION } from './simulator.ts';

describeConnector(slack, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    channels: {
      create: (number) => ({ name: `new-${number}`, topic: "It's new" }),
      // A name has few characters.
      freeTexts: ['topic', 'purpose'],
    },
    messages: {
      create: (number) => ({ channel: DEMO_CHANNEL, text: `Message ${number}: "O'Neil" 😀` }),
      freeTexts: ['text'],
      // A message has a text.
      alteredTexts: ['', ' '],
    },
    usergroups: {
      create: (number) => ({ name: `Group ${number}`, handle: `group-${number}` }),
      freeTexts: ['description'],
    },
  },
});
