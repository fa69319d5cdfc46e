import { useState } from 'preact/hooks';
import { api, ask, type Schemas } from '../api.ts';
import { shadesOf } from '../connect/brand.ts';
import { useLoad } from '../load.ts';
import { Field, Form, readText } from '../parts/form.tsx';
import { Show } from '../parts/show.tsx';

type Branding = Schemas['ConnectBranding'];

const LANGUAGES = { en: 'English', de: 'German', fr: 'French', es: 'Spanish' } as const;
const COLOR = /^#[0-9a-f]{6}$/i;

/** Edits the appearance of the connect page, on which users of a product connect their accounts. */
export function ConnectBranding() {
  const loaded = useLoad((signal) => ask(api.GET('/organizations/me/connect-branding', { signal })), []);
  return (
    <Show loaded={loaded}>
      {(branding) => <BrandingForm key={JSON.stringify(branding)} branding={branding} onSaved={loaded.reload} />}
    </Show>
  );
}

function BrandingForm({ branding, onSaved }: { readonly branding: Branding; readonly onSaved: () => void }) {
  const [shown, setShown] = useState(branding);
  const save = async (form: FormData) => {
    await ask(api.PUT('/organizations/me/connect-branding', { body: await readBranding(form) }));
    onSaved();
  };
  return (
    <div class="columns">
      <section class="card stack" aria-label="Connect page">
        <p class="soft">
          Appearance of the <a href="/console/connect">connect page</a>. A session can override each setting with{' '}
          <code>branding</code>.
        </p>
        <div
          onInput={async ({ target }) => {
            const form = target instanceof Element ? target.closest('form') : null;
            if (form !== null) setShown(await readBranding(new FormData(form)));
          }}
        >
          <Form action="Save" onSubmit={save}>
            <Field label="Name of the product" name="name" value={branding.name} maxLength={80} />
            <Field
              label="Logo"
              name="logoUrl"
              value={branding.logoUrl}
              maxLength={32_768}
              placeholder="https://app.example.com/logo.png"
              hint={
                <>
                  URL of an image from one of the <a href="/console/organization/connect-origins">origins</a>, or a file
                  of at most 24 kB, which the service stores.
                </>
              }
            />
            <input
              type="file"
              name="file"
              aria-label="Logo file"
              accept="image/png,image/jpeg,image/webp,image/svg+xml"
            />
            <Field
              label="Color"
              name="color"
              value={branding.color}
              maxLength={7}
              placeholder="#0b5cad"
              hint="Color of the buttons. Their text is black or white, whichever is easier to read. Links have the nearest readable shade."
            />
            <label>
              Language
              <select name="language" defaultValue={branding.language ?? ''}>
                <option value="">language of the browser</option>
                {Object.entries(LANGUAGES).map(([key, name]) => (
                  <option key={key} value={key} selected={key === branding.language}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          </Form>
        </div>
      </section>
      <section class="card stack" aria-label="Preview">
        <h2>Preview</h2>
        <Preview branding={shown} />
      </section>
    </div>
  );
}

/** Shows the header of the connect page in the light and the dark theme. */
function Preview({ branding: { name, logoUrl = '', color = '' } }: { readonly branding: Branding }) {
  const shades = COLOR.test(color) ? shadesOf(color) : {};
  const isShown = /^(?:https?|data:image\/)/.test(logoUrl);
  return (
    <>
      {(['light', 'dark'] as const).map((colorScheme) => (
        <div key={colorScheme} class="connect framed card" style={{ ...shades, colorScheme, color: 'var(--text)' }}>
          <div class="stack">
            <span class="row beside strong">
              {logoUrl.startsWith('data:image/') && <img class="logo" src={logoUrl} alt="" />}
              {isShown && !logoUrl.startsWith('data:') && (
                <span class="soft small">logo of {URL.parse(logoUrl)?.host}</span>
              )}
              <bdi class="break">{name ?? 'Your product'}</bdi>
            </span>
            <p>
              <a href="#preview">A sample link</a>
            </p>
            <div>
              <button type="button" class="main">
                Connect
              </button>
            </div>
          </div>
        </div>
      ))}
    </>
  );
}

/** Returns the form's values without empty ones. */
async function readBranding(form: FormData): Promise<Branding> {
  const file = form.get('file');
  const image = file instanceof File && file.size > 0 ? await readImage(file) : undefined;
  const [name, logoUrl, color] = ['name', 'logoUrl', 'color'].map((member) => readText(form, member) || undefined);
  const language = Object.keys(LANGUAGES).find((key) => key === form.get('language'));
  return {
    ...(name !== undefined && { name }),
    ...((image ?? logoUrl) !== undefined && { logoUrl: image ?? logoUrl }),
    ...(color !== undefined && { color }),
    ...(isLanguage(language) && { language }),
  };
}

function isLanguage(key: string | undefined): key is keyof typeof LANGUAGES {
  return key !== undefined && Object.hasOwn(LANGUAGES, key);
}

/** Reads an image file as a `data:` URL. */
function readImage(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () =>
      reject(reader.error ?? new Error(`${file.name} cannot be read. Choose another file.`)),
    );
    reader.readAsDataURL(file);
  });
}
