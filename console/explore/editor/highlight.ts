import { RangeSetBuilder } from '@codemirror/state';
import { Decoration, type DecorationSet, type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { type WordKind, wordsOf } from '../../../src/where/written.ts';

const MARKS: Readonly<Record<WordKind, Decoration>> = {
  name: Decoration.mark({ class: 'w-name' }),
  keyword: Decoration.mark({ class: 'w-keyword' }),
  operator: Decoration.mark({ class: 'w-operator' }),
  text: Decoration.mark({ class: 'w-text' }),
  number: Decoration.mark({ class: 'w-number' }),
  date: Decoration.mark({ class: 'w-number' }),
  sign: Decoration.mark({ class: 'w-sign' }),
  mistake: Decoration.mark({ class: 'w-mistake' }),
};

/** Colours the words of the filter as the lexer of the service distinguishes them. */
export const highlighting = ViewPlugin.define((view) => new Highlighter(view), {
  decorations: ({ decorations }) => decorations,
});

class Highlighter {
  decorations: DecorationSet;

  constructor(view: EditorView) {
    this.decorations = markWords(view);
  }

  update(update: ViewUpdate): void {
    if (update.docChanged) this.decorations = markWords(update.view);
  }
}

function markWords({ state }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { kind, offset, length } of wordsOf(state.doc.toString()))
    builder.add(offset, offset + length, MARKS[kind]);
  return builder.finish();
}
