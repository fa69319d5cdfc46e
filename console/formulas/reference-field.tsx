import { h, type LooseInputHTMLAttributes } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Completion, complete, findBeginning, matchCompletions } from './completion.ts';
import { findPosition } from './findings.ts';

interface ReferenceFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly completions: readonly Completion[];
  /** Number of rows. Undefined: a field of one line. */
  readonly rows?: number;
  readonly isCode?: boolean;
  readonly isRequired?: boolean;
  readonly hint?: string | undefined;
  readonly messages: readonly string[];
}

type Control = HTMLInputElement | HTMLTextAreaElement;

/** A text field that completes references as the user types. */
export function ReferenceField(props: ReferenceFieldProps) {
  const { label, value, onChange, completions, rows, isCode = false, isRequired = false, hint, messages } = props;
  const id = useId();
  const control = useRef<Control>(null);
  const [cursor, setCursor] = useState<number>();
  const [active, setActive] = useState(0);
  const wanted = useRef<number | undefined>(undefined);
  const beginning = cursor === undefined ? undefined : findBeginning(value, cursor, isCode);
  const shown = beginning === undefined ? [] : matchCompletions(completions, beginning);
  const isOpen = shown.length > 0;
  useEffect(() => {
    if (wanted.current === undefined) return;
    control.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = undefined;
  }, [value]);
  const choose = (completion: Completion | undefined) => {
    if (completion === undefined || beginning === undefined || cursor === undefined) return;
    const next = complete(value, cursor, beginning, completion, isCode);
    wanted.current = next.cursor;
    setCursor(undefined);
    onChange(next.text);
  };
  const keys: Readonly<Record<string, () => void>> = {
    ArrowDown: () => setActive(Math.min(active + 1, shown.length - 1)),
    ArrowUp: () => setActive(Math.max(active - 1, 0)),
    Enter: () => choose(shown[active]),
    Tab: () => choose(shown[active]),
    Escape: () => setCursor(undefined),
  };
  const says = [messages.length > 0 && `${id}-faults`, hint !== undefined && `${id}-hint`].filter(Boolean).join(' ');
  const attributes: LooseInputHTMLAttributes = {
    id,
    value,
    ref: (element: Control | null) => {
      control.current = element;
    },
    class: isCode || rows !== undefined ? 'mono' : undefined,
    spellcheck: false,
    autocomplete: 'off',
    'aria-autocomplete': 'list',
    'aria-controls': isOpen ? `${id}-list` : undefined,
    'aria-activedescendant': isOpen ? `${id}-${active}` : undefined,
    'aria-invalid': messages.length > 0,
    'aria-required': isRequired,
    'aria-describedby': says || undefined,
    ...(rows !== undefined && { rows }),
    onInput: ({ currentTarget }: { readonly currentTarget: Control }) => {
      setCursor(currentTarget.selectionStart ?? undefined);
      setActive(0);
      onChange(currentTarget.value);
    },
    onBlur: () => setCursor(undefined),
    onKeyDown: (event: KeyboardEvent) => {
      const act = isOpen ? keys[event.key] : undefined;
      if (act === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    },
  };
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isRequired && ' *'}
      </label>
      <div class="combo">
        {h(rows === undefined ? 'input' : 'textarea', attributes)}
        {isOpen && (
          <Choices id={id} shown={shown} active={active} onChoose={choose} label={`References for ${label}`} />
        )}
      </div>
      {messages.length > 0 && (
        <div id={`${id}-faults`} class="small fault">
          {messages.map((message) => (
            <Message key={message} message={message} value={value} control={control} />
          ))}
        </div>
      )}
      {hint !== undefined && (
        <div id={`${id}-hint`} class="small soft break">
          {hint}
        </div>
      )}
    </div>
  );
}

interface ChoicesProps {
  readonly id: string;
  readonly shown: readonly Completion[];
  readonly active: number;
  readonly onChoose: (completion: Completion) => void;
  readonly label: string;
}

function Choices({ id, shown, active, onChoose, label }: ChoicesProps) {
  return (
    <div id={`${id}-list`} role="listbox" aria-label={label} tabIndex={-1}>
      {shown.map((completion, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
        <div
          key={completion.text}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(completion)}
        >
          <code class="break">{completion.text}</code>
          <span class="soft small">{completion.detail}</span>
        </div>
      ))}
    </div>
  );
}

interface MessageProps {
  readonly message: string;
  readonly value: string;
  readonly control: { readonly current: Control | null };
}

/** Shows a fault. If the message names a position, a button moves the cursor there. */
function Message({ message, value, control }: MessageProps) {
  const position = findPosition(value, message);
  const show = () => {
    control.current?.focus();
    control.current?.setSelectionRange(position ?? 0, (position ?? 0) + 1);
  };
  return (
    <div>
      {message}{' '}
      {position !== undefined && (
        <button type="button" class="plain" onClick={show}>
          Go there
        </button>
      )}
    </div>
  );
}
