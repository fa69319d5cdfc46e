import type { Schemas } from '../api.ts';

type Scripts = Schemas['ActivityScripts'];

/** Shows the log lines of the scripts of mappings during a request, and the reasons why scripts failed. */
export function ScriptNotes({ scripts }: { readonly scripts: Scripts }) {
  const { console: lines, moreConsoleLines = 0, failures, reasons } = scripts;
  return (
    <section class="stack tight" aria-label="Scripts">
      <h2>Scripts</h2>
      {failures > 0 && (
        <div class="note warn">
          <p>
            The script failed {failures === 1 ? 'once' : `${failures} times`}. The records below were returned without
            its changes.
          </p>
          <ul>
            {reasons.map(({ reason, count, recordIds }) => (
              <li key={reason} class="break">
                {reason}
                {recordIds.length > 0 && (
                  <span class="soft">
                    {' '}
                    · {recordIds.length === 1 ? 'record' : 'records'} {recordIds.join(', ')}
                    {count > recordIds.length && ` and ${count - recordIds.length} more`}
                  </span>
                )}
              </li>
            ))}
          </ul>
        </div>
      )}
      {lines.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <pre tabIndex={0}>{lines.join('\n')}</pre>
      )}
      {moreConsoleLines > 0 && <p class="small soft">{moreConsoleLines} further lines were not kept.</p>}
    </section>
  );
}
