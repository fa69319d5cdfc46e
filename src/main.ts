import { startApp } from './app.ts';
import { ConfigError, readConfig, secretsOf } from './config.ts';
import { ConnectorError } from './connector/validate.ts';
import { createLogger, type Logger } from './log.ts';
import { createRedactor, NO_SECRETS } from './redaction.ts';

// Until the configuration is read: its problems are told without values.
let redactor = NO_SECRETS;

try {
  const config = readConfig(process.env);
  redactor = createRedactor(secretsOf(config));
  const log = createLogger({ level: config.logLevel, redactor });
  const app = await startApp({ config, log, onLost: endWith(log) });
  console.log(welcome(app));

  const stop = async (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping');
    await app.stop();
    process.exit(0);
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
} catch (error) {
  const expected = error instanceof ConfigError || error instanceof ConnectorError || isPortInUse(error);
  console.error(redactor.redact(expected ? error.message : String(error instanceof Error ? error.stack : error)));
  process.exit(1);
}

/** What is lost does not come back; whoever started this process starts it again. */
function endWith(log: Logger) {
  return (error: unknown): void => {
    log.fatal({ err: error }, 'the service cannot go on');
    process.exit(1);
  };
}

function isPortInUse(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

function welcome({
  url,
  baseUrl,
  simulatorsUrl,
  metricsUrl,
  credentialsFile,
}: Awaited<ReturnType<typeof startApp>>): string {
  const lines = [
    '',
    `Causeway is ready at ${baseUrl}`,
    `  reference    ${url}/docs`,
    ...(simulatorsUrl === undefined ? [] : [`  simulators   ${simulatorsUrl}`]),
    ...(metricsUrl === undefined ? [] : [`  measurements ${metricsUrl}`]),
    ...(credentialsFile === undefined
      ? []
      : [`  credentials  ${credentialsFile}`, '', 'Try it:', tryIt(baseUrl, credentialsFile)]),
    '',
  ];
  return lines.join('\n');
}

/** The secrets stay in their file: the shell reads them there. */
function tryIt(baseUrl: string, credentialsFile: string): string {
  const read = (name: string) => `$(node -p 'require("${credentialsFile}").${name}')`;
  return `  curl -H "Authorization: User ${read('userSecret')}, Organization ${read('organizationSecret')}" ${baseUrl}/elements`;
}
