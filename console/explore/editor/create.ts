import { autocompletion, closeBrackets, closeBracketsKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, insertNewline } from '@codemirror/commands';
import { forceLinting, linter, lintKeymap, nextDiagnostic } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import { completing } from './complete.ts';
import { highlighting } from './highlight.ts';
import { linting } from './lint.ts';
import type { EditorSource } from './source.ts';
import { theme } from './theme.ts';

/** Milliseconds after the last key, after which the filter is checked. */
const LINT_DELAY_MS = 150;

interface WhereEditorOptions {
  /**
   * Element for the editor. It gets a shadow root, so that the styles which the editor adds do not violate the Content-Security-Policy of
   * the pages.
   */
  readonly element: HTMLElement;
  readonly text: string;
  /** Called whenever the editor needs metadata, values or faults. */
  readonly source: () => EditorSource;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

/** The functions of an open editor. */
export interface OpenWhereEditor {
  readonly setText: (text: string) => void;
  /** Inserts a text at the cursor, in place of the selected text. */
  readonly insert: (text: string) => void;
  /** Checks the filter again, after the metadata or the faults of the service have changed. */
  readonly checkAgain: () => void;
  readonly close: () => void;
}

export function openWhereEditor({ element, text, source, onChange, onRun }: WhereEditorOptions): OpenWhereEditor {
  const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
  const run = () => {
    onRun();
    return true;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        drawSelection(),
        closeBrackets(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Filter', 'aria-multiline': 'true', spellcheck: 'false' }),
        placeholder("such as  status = 'Active' AND name LIKE 'A%'"),
        highlighting,
        autocompletion({
          override: [completing(source)],
          icons: false,
          maxRenderedOptions: 20,
          activateOnCompletion: () => true,
        }),
        linter(linting(source), { delay: LINT_DELAY_MS }),
        EditorState.languageData.of(() => [{ closeBrackets: { brackets: ['(', "'"] } }]),
        keymap.of(closeBracketsKeymap),
        Prec.high(
          keymap.of([
            { key: 'Mod-Enter', run },
            { key: 'Shift-Enter', run: insertNewline },
          ]),
        ),
        keymap.of([
          { key: 'Enter', run },
          { key: 'F8', run: nextDiagnostic },
          ...lintKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
        theme,
      ],
    }),
  });

  return {
    setText: (next) => {
      const { doc } = view.state;
      if (doc.toString() !== next) view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    insert: (added) => {
      const { from, to } = view.state.selection.main;
      const before = view.state.doc.sliceString(from - 1, from);
      const insert = /^[\s(]?$/.test(before) ? added : ` ${added}`;
      view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length } });
      view.focus();
    },
    checkAgain: () => forceLinting(view),
    close: () => view.destroy(),
  };
}
