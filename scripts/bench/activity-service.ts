/** The service, whose recorder keeps nothing with RECORDS=off: what recording costs is what it is slower by otherwise. */
import { once } from 'node:events';
import { startApp } from '../../src/app/index.ts';
import { readConfig } from '../../src/config/index.ts';
import { createLogger } from '../../src/log.ts';

const config = readConfig(process.env);
const { databaseUrl: url } = config;
if (url === undefined) throw new Error('DATABASE_URL is not set');
const recorderOptions = process.env.RECORDS === 'off' ? { mostRows: 0 } : {};
const log = createLogger({ level: config.logLevel });
const app = await startApp({ config, database: { url }, log, recorderOptions });
await once(process, 'SIGTERM');
await app.stop();
process.exit(0);
