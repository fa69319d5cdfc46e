import { useRef } from 'preact/hooks';
import { type ConnectingProps, useConnecting } from './connecting.ts';
import { Failure } from './failure.tsx';
import { FieldInput, fieldId } from './field.tsx';
import { Heading } from './heading.tsx';
import type { OfferedElement } from './session.ts';
import { texts } from './texts.ts';
import { Waiting } from './waiting.tsx';
import { webUrl } from './words.tsx';

interface FormProps extends ConnectingProps {
  /** Address at which the user chooses another provider. Undefined if there is no other. */
  readonly otherLink: string | undefined;
}

/** Shows the form of one element: its fields, or the button that opens the provider's page. */
export function ElementForm({ otherLink, ...props }: FormProps) {
  const { session, element } = props;
  const { name, fields, authorizes } = element;
  const connecting = useConnecting(props);
  const { values, faults, away, isBusy, failed } = connecting;
  const form = useRef<HTMLFormElement>(null);
  if (away !== undefined)
    return <Waiting {...props} {...connecting} otherLink={otherLink} isBlocked={away.isBlocked} />;

  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const faulty = connecting.submit();
    if (faulty !== undefined) form.current?.querySelector<HTMLElement>(`#${CSS.escape(fieldId(faulty))}`)?.focus();
  };
  return (
    <form ref={form} class="stack" noValidate onSubmit={submit}>
      <Heading
        element={element}
        title={session.isReauthentication ? texts.form.again(name) : texts.form.title(name)}
        otherLink={otherLink}
      />
      {authorizes && <p class="soft">{texts.form.authorize(name)}</p>}
      {fields.map((field) => (
        <FieldInput
          key={field.key}
          field={field}
          value={values[field.key] ?? ''}
          fault={faults[field.key]}
          onValue={(value) => connecting.setValue(field.key, value)}
        />
      ))}
      {fields.length > 0 && <Help element={element} />}
      {failed !== undefined && <Failure failed={failed} name={name} />}
      <footer class="row">
        <button type="submit" class="main" disabled={isBusy}>
          {isBusy ? texts.form.asking(name) : authorizes ? texts.form.toProvider(name) : texts.form.connect}
        </button>
      </footer>
    </form>
  );
}

/** Links to the provider's own documentation. */
function Help({ element: { name, documentation } }: { readonly element: OfferedElement }) {
  const links = documentation.flatMap(({ title, url }) => {
    const address = webUrl(url);
    return address === undefined ? [] : [{ title, url: address.href }];
  });
  if (links.length === 0) return null;
  return (
    <div class="small">
      <p class="soft">{texts.form.help(name)}</p>
      <ul class="bare">
        {links.map(({ title, url }) => (
          <li key={url}>
            <a href={url} target="_blank" rel="noopener noreferrer">
              <bdi>{title}</bdi> <span class="unseen">{texts.form.newWindow}</span>
              <span aria-hidden="true">↗</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
