import { describeConnector, loggedIn, type WriteSample } from '#connector/suite';
import notion from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

const TASKS = { data_source_id: 'd0000000-0000-4000-8000-000000000001' };
const PAGE = 'a0000000-0000-4000-8000-000000000001';
const sample = (create: WriteSample['create'], ...freeTexts: readonly string[]) => ({
  create,
  freeTexts,
  // An empty text is no text.
  alteredTexts: [''],
});

describeConnector(notion, createSimulator, {
  folder: import.meta.dirname,
  configuration: { ...DEMO_CONFIGURATION, ...loggedIn(DEMO_ACCESS_TOKEN, CLIENTS) },
  writes: {
    tasks: sample(
      (number) => ({
        ...{ Name: `It's ${number}`, Points: 4.5, Priority: 'Low', Status: 'Done', Tags: ['red', 'Green'] },
        ...{ Due: { start: '2024-02-29', end: null, time_zone: null }, A_checkbox: true },
      }),
      ...['Name', 'Notes'],
    ),
    projects: sample((number) => ({ Gro_e_m2: `It's ${number}`, No_of_items: 7 })),
    pages: { ...sample((number) => ({ parent: TASKS, title: `Page ${number}` }), 'title'), neverShown: ['parent'] },
    comments: sample((number) => ({ page_id: PAGE, text: `Comment ${number}` }), 'text'),
  },
});
