import { EditorView } from '@codemirror/view';

/** A theme in the colours of the design, whose variables also apply inside the shadow root. */
export const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--back)', fontSize: '13px', borderRadius: 'inherit' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', maxHeight: '14rem' },
  '.cm-content': { padding: '0.45rem 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 0.7rem' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--soft)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 30%, transparent)',
  },
  '.w-keyword': { color: 'var(--accent)', fontWeight: '600' },
  '.w-operator': { color: 'var(--accent)' },
  '.w-text': { color: 'var(--good)' },
  '.w-number': { color: 'var(--busy)' },
  '.w-sign': { color: 'var(--soft)' },
  '.w-mistake': { color: 'var(--bad)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    borderBottom: '2px dotted var(--bad)',
  },
  '.cm-tooltip': {
    color: 'var(--text)',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius)',
    boxShadow: '0 4px 16px rgb(0 0 0 / 20%)',
    zIndex: '10',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '18rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.15rem 0.6rem', lineHeight: '1.5' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--on-accent)', background: 'var(--accent)' },
  '.cm-completionDetail': { color: 'var(--soft)', fontStyle: 'normal', marginLeft: '1em' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-diagnostic': { padding: '0.4rem 0.7rem', borderLeft: '3px solid var(--bad)', maxWidth: '30rem' },
  '.cm-diagnosticAction': {
    color: 'var(--on-accent)',
    backgroundColor: 'var(--accent)',
    borderRadius: 'var(--radius)',
    padding: '0.1rem 0.5rem',
    cursor: 'pointer',
  },
});
