import { start } from '../event-load/processes.ts';
import type { NewestThing, ProviderCommand, ProviderReport } from './messages.ts';

export type Provider = Awaited<ReturnType<typeof startProvider>>;

/** The provider of the measurement and the receiver of its events, which ends with this process. */
export async function startProvider() {
  const child = await start<ProviderCommand>('../poll-load/provider.ts', {});
  return {
    url: child.url,
    /** `records` of each tenant. @returns of each tenant the newest */
    fill: (tenants: number, records: number) => child.ask<readonly NewestThing[]>({ kind: 'fill', tenants, records }),
    /** Records change from now on; a change is seen at most so much later than its time says. */
    begin: (perSecond: number, mostLateMs: number) => child.ask<void>({ kind: 'begin', perSecond, mostLateMs }),
    end: () => child.ask<void>({ kind: 'end' }),
    report: () => child.ask<ProviderReport>({ kind: 'report' }),
    stop: child.kill,
  };
}
