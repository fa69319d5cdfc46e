import { useEffect, useRef } from 'preact/hooks';
import { type OpenWhereEditor, openWhereEditor } from './editor/create.ts';
import type { EditorSource } from './editor/source.ts';

interface WhereEditorProps {
  readonly text: string;
  readonly source: EditorSource;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  /** Receives the functions of the editor once it is open. */
  readonly onOpen?: (editor: OpenWhereEditor) => void;
}

/** A field for a filter. It keeps its own text until the caller passes another `text`. */
export function WhereEditor({ text, source, onChange, onRun, onOpen }: WhereEditorProps) {
  const element = useRef<HTMLDivElement>(null);
  const editor = useRef<OpenWhereEditor | undefined>(undefined);
  const latest = useRef({ source, onChange, onRun });
  latest.current = { source, onChange, onRun };
  useEffect(() => {
    if (element.current === null) return;
    const opened = openWhereEditor({
      element: element.current,
      text,
      source: () => latest.current.source,
      onChange: (next) => latest.current.onChange(next),
      onRun: () => latest.current.onRun(),
    });
    editor.current = opened;
    onOpen?.(opened);
    return opened.close;
  }, []);
  useEffect(() => editor.current?.setText(text), [text]);
  useEffect(() => editor.current?.checkAgain(), [source.metadata, source.faults]);
  return <div ref={element} class="where-editor" />;
}
