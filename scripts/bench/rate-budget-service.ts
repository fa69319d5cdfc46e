/** A service process of `rate-budgets.ts`. Its only element is the provider with a rate limit. `IS_SHARED=false` gives it a budget of its own. */
import { startApp } from '../../src/app/index.ts';
import { readConfig } from '../../src/config/index.ts';
import { createLogger } from '../../src/log.ts';
import { LIMITED } from '../../test/support/limited-provider.ts';

const url = process.env.DATABASE_URL ?? '';
const app = await startApp({
  config: readConfig({
    ...process.env,
    PORT: '0',
    SIMULATORS_PORT: 'off',
    EGRESS_ALLOW: '127.0.0.0/8,::1',
    ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 7).toString('base64')}`,
    BOOTSTRAP_ORGANIZATION_SECRET: 'bench-organization-secret-of-it',
    BOOTSTRAP_USER_SECRET: 'bench-user-secret-of-the-measurement',
    RATE_LIMIT_USER: 'off',
    RATE_LIMIT_ACCOUNT: 'off',
    LOG_LEVEL: 'error',
  }),
  database: { url },
  log: createLogger({ level: 'error' }),
  connectors: [LIMITED],
  rateBudgetOptions: { isShared: process.env.IS_SHARED === 'true' },
});
process.once('SIGTERM', () => void app.stop().then(() => process.exit(0)));
process.once('disconnect', () => process.exit(1));
process.send?.({ baseUrl: app.baseUrl });
