import { resolve } from 'node:path';
import type { Role } from '../config/index.ts';
import type { App } from './index.ts';

const WORK: Readonly<Record<Role, string>> = {
  all: 'Causeway is ready at',
  api: 'Causeway (ROLE=api: it serves the API and delivers no events) is ready at',
  worker: 'Causeway (ROLE=worker: background work and the delivery of events, no API) is running; its health is at',
};

/** Returns the text that a start prints for people. The commands under "Try it" can be pasted into a shell in any folder. */
export function welcome(app: App, role: Role): string {
  const { url, baseUrl, simulatorsUrl, metricsUrl, credentialsFile } = app;
  const isWorker = role === 'worker';
  const lines = [
    '',
    `${WORK[role]} ${isWorker ? `${url}/health/ready` : baseUrl}`,
    ...(isWorker ? [] : [`  console      ${url}/console`, `  reference    ${url}/docs`]),
    ...(simulatorsUrl === undefined ? [] : [`  simulators   ${simulatorsUrl}`]),
    ...(metricsUrl === undefined ? [] : [`  measurements ${metricsUrl}`]),
    ...(credentialsFile === undefined
      ? []
      : [`  credentials  ${credentialsFile} (the console logs you in with this file)`]),
    ...(credentialsFile === undefined || isWorker ? [] : ['', 'Try it:', tryIt(baseUrl, resolve(credentialsFile))]),
    '',
  ];
  return lines.join('\n');
}

/** The secrets stay in their file: the shell reads them there. */
function tryIt(baseUrl: string, credentialsFile: string): string {
  const read = (name: string) => `$(node -p ${quote(`require(${JSON.stringify(credentialsFile)}).${name}`)})`;
  return `  curl -H "Authorization: User ${read('userSecret')}, Organization ${read('organizationSecret')}" ${baseUrl}/elements`;
}

/** Quotes a text as a single word for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
