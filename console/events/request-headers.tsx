import { useState } from 'preact/hooks';
import type { Schemas } from '../api.ts';
import { Copy } from '../parts/copy.tsx';
import { Fact } from '../parts/fact.tsx';

interface RequestHeadersProps {
  readonly attempts: readonly Schemas['DeliveryAttempt'][];
}

/** Shows the headers that an attempt sent: those of the last attempt, until the user chooses another one. */
export function RequestHeaders({ attempts }: RequestHeadersProps) {
  const [chosen, setChosen] = useState<number>();
  const shown = attempts.find(({ attempt }) => attempt === chosen) ?? attempts.at(-1);
  if (shown === undefined) return null;
  const lines = Object.entries(shown.requestHeaders ?? {});
  const text = lines.map(([name, value]) => `${name}: ${value}`).join('\n');
  return (
    <section class="stack tight" aria-label="Request headers">
      <div class="row apart">
        <h3>Request headers</h3>
        <div class="row">
          {attempts.length > 1 && (
            <select
              class="narrow"
              aria-label="Headers of attempt"
              value={String(shown.attempt)}
              onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}
            >
              {attempts.map(({ attempt }) => (
                <option key={attempt} value={String(attempt)}>
                  attempt {attempt}
                </option>
              ))}
            </select>
          )}
          {lines.length > 0 && <Copy text={text} what="the request headers" />}
        </div>
      </div>
      {lines.length === 0 ? (
        <p class="soft">The headers of this attempt are not stored.</p>
      ) : (
        <dl class="facts">
          {lines.map(([name, value]) => (
            <Fact key={name} name={name}>
              <code class="break">{value}</code>
            </Fact>
          ))}
        </dl>
      )}
    </section>
  );
}
