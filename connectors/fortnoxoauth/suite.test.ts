import { describeConnector, loggedIn } from '#connector/suite';
import { WRITES } from '../fortnox/samples.ts';
import fortnox from './index.ts';
import { CLIENTS, createSimulator, DEMO_ACCESS_TOKEN } from './simulator.ts';

describeConnector(fortnox, createSimulator, {
  folder: import.meta.dirname,
  configuration: loggedIn(DEMO_ACCESS_TOKEN, CLIENTS),
  writes: WRITES,
});
