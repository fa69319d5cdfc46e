import { useState } from 'preact/hooks';
import { printName } from '../../src/where/print.ts';
import type { Row } from '../../src/where/row-values.ts';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Cell, textOf } from './cell.tsx';
import { type RecordColumn, readFieldNames } from './columns.ts';
import type { ObjectFields } from './metadata.ts';
import type { Snippet } from './snippets.ts';

interface SnippetsDialogProps {
  readonly snippets: readonly Snippet[];
  readonly onClose: () => void;
}

export function SnippetsDialog({ snippets, onClose }: SnippetsDialogProps) {
  return (
    <Dialog title="Copy the query" isSide onClose={onClose}>
      <p class="soft">
        The command reads the secrets from environment variables. The token of the instance, for{' '}
        <code>CAUSEWAY_ELEMENT_TOKEN</code>, is on the page of the instance.
      </p>
      {snippets.map(({ title, text }) => (
        <section key={title} class="stack tight" aria-label={title}>
          <div class="row apart">
            <h3>{title}</h3>
            <Copy text={text} what={title} />
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
          <pre tabIndex={0}>{text}</pre>
        </section>
      ))}
    </Dialog>
  );
}

interface RecordDialogProps {
  readonly record: Row;
  readonly columns: readonly RecordColumn[];
  readonly onClose: () => void;
}

/** Shows one record field by field, with a button to copy each value. */
export function RecordDialog({ record, columns, onClose }: RecordDialogProps) {
  return (
    <Dialog title="Record" isSide onClose={onClose}>
      <div>
        <Copy text={JSON.stringify(record, null, 2)} what="the record" label="Copy as JSON" />
      </div>
      <dl class="facts">
        {columns.map(({ name, read }) => (
          <Fact key={name} name={name} value={read(record)} />
        ))}
      </dl>
    </Dialog>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <>
      <dt class="mono break">{name}</dt>
      <dd class="row apart">
        <div class="grow">{typeof value === 'string' && value !== '' ? value : <Cell value={value} />}</div>
        {value !== null && value !== undefined && <Copy text={textOf(value)} what={name} />}
      </dd>
    </>
  );
}

interface ColumnsDialogProps {
  readonly metadata: ObjectFields;
  readonly fields: string;
  /** Receives the names of the chosen fields, separated by commas. An empty text requests all fields. */
  readonly onChoose: (fields: string) => void;
  readonly onClose: () => void;
}

/** Lets the user choose the requested fields, because unused fields cost time at the provider and on the network. */
export function ColumnsDialog({ metadata, fields, onChoose, onClose }: ColumnsDialogProps) {
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(readFieldNames(fields)));
  const listed = metadata.fields.filter(({ unlisted }) => unlisted !== true);
  const wanted = words.trim().toLowerCase();
  const choose = (names: Iterable<string>) => {
    onChoose([...names].map(printName).join(','));
    onClose();
  };
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    setChosen(next);
  };
  return (
    <Dialog title="Columns" isSide onClose={onClose}>
      <input
        type="search"
        aria-label="Search columns"
        placeholder={`Search ${listed.length} fields`}
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      <p class="soft small">{chosen.size === 0 ? 'The query requests all fields.' : `${chosen.size} chosen.`}</p>
      <div class="stack tight scroll">
        {listed
          .filter(({ name, label }) => `${name}\n${label}`.toLowerCase().includes(wanted))
          .map(({ name, type }) => (
            <label key={name} class="inline">
              <input type="checkbox" checked={chosen.has(name)} onChange={() => toggle(name)} />
              <span class="mono break">{name}</span> <span class="soft small">{type}</span>
            </label>
          ))}
      </div>
      <footer class="row end">
        <button type="button" onClick={() => choose([])}>
          Request all
        </button>
        <button
          type="button"
          class="main"
          onClick={() => choose(listed.map(({ name }) => name).filter((name) => chosen.has(name)))}
        >
          Show these columns
        </button>
      </footer>
    </Dialog>
  );
}
