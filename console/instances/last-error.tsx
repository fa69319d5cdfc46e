import type { Schemas } from '../api.ts';
import { Time } from '../parts/time.tsx';
import { useMay } from '../who.ts';

/** The last call on an instance that failed, with the way to it for those who may see activity. */
export function LastError({ lastError }: Pick<Schemas['Instance'], 'lastError'>) {
  const may = useMay();
  if (lastError === undefined) return <span class="soft">none</span>;
  const { date, status, code, requestId } = lastError;
  const words = (
    <>
      {status} {code !== undefined && <code class="small break">{code}</code>}
    </>
  );
  return (
    <span class="lines">
      {may('viewAccountLogs') ? <a href={`/console/activity/${requestId}`}>{words}</a> : <span>{words}</span>}
      <Time at={date} />
    </span>
  );
}
