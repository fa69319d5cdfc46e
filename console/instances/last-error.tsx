import type { Schemas } from '../api.ts';
import { Time } from '../parts/time.tsx';
import { useMay } from '../who.ts';

/** Shows the last failed call on an instance, with a link to the activity for users who may see it. */
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
