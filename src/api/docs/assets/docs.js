// What the pages of the documentation do in the browser: the search, the menu of small screens, and the forms that try
// an operation. Without it the pages can be read all the same.

const navigation = document.querySelector('#docs-navigation');
const links = [...navigation.querySelectorAll('a')].map((link) => ({
  link,
  text: `${link.textContent} ${link.dataset.keywords}`.toLowerCase(),
}));

const search = document.querySelector('#docs-search');
search.hidden = false;
search.addEventListener('input', () => filterLinks(search.value));
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.closest('input, textarea, select')) return;
  event.preventDefault();
  openMenu(true);
  search.focus();
});

/** Every word must be there. A heading is found in a closed page too. */
function filterLinks(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  for (const { link, text } of links)
    link.classList.toggle(
      'found',
      words.every((word) => text.includes(word)),
    );
  navigation.classList.toggle('searching', words.length > 0);
  for (const item of navigation.querySelectorAll('li, section'))
    item.classList.toggle('with', item.querySelector('.found') !== null);
  document.querySelector('#docs-nothing').hidden = words.length === 0 || navigation.querySelector('.found') !== null;
}

const menu = document.querySelector('#docs-menu');
menu.hidden = false;
menu.addEventListener('click', () => openMenu(menu.getAttribute('aria-expanded') === 'false'));
navigation.addEventListener('click', (event) => {
  if (event.target.closest('a')) openMenu(false);
});

function openMenu(open) {
  menu.setAttribute('aria-expanded', String(open));
  navigation.classList.toggle('opened', open);
}

// A link to the current page scrolls the navigation to its place.
navigation.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });

for (const select of document.querySelectorAll('select.examples')) {
  select.addEventListener('change', () => {
    select.form.querySelector('.body').value = select.value;
  });
}
for (const form of document.querySelectorAll('form')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (form.dataset.path !== undefined) tryIt(form);
  });
}

async function tryIt(form) {
  const answer = form.querySelector('.answer');
  const { url, options } = requestOf(form);
  answer.replaceChildren(element('p', `${options.method} ${url} …`));
  try {
    const response = await fetch(url, options);
    const text = await response.text();
    keepToken(form, response, text);
    answer.replaceChildren(
      element('p', `${options.method} ${url}`),
      element('p', `${response.status} ${response.statusText}`, response.ok ? 'good' : 'bad'),
      element('pre', [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n'), 'headers'),
      element('pre', pretty(text)),
    );
  } catch (error) {
    answer.replaceChildren(element('p', `No answer: ${error.message}`, 'bad'));
  }
}

/** What is left empty is not sent. */
function requestOf(form) {
  const fields = [...form.querySelectorAll('[data-in]')].filter((field) => field.value !== '');
  const of = (place) => fields.filter((field) => field.dataset.in === place);
  const values = new Map(of('path').map((field) => [field.name, field.value]));
  const path = form.dataset.path.replace(/\{(\w+)\}/g, (_, name) => encodePath(name, values.get(name) ?? ''));
  const query = new URLSearchParams(of('query').map((field) => [field.name, field.value]));
  const headers = new Headers(of('header').map((field) => [field.name, field.value]));
  const authorization = authorizationFor(form.dataset.security);
  if (authorization !== '') headers.set('Authorization', authorization);
  const body = form.querySelector('.body')?.value;
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  const url = query.size > 0 ? `${path}?${query}` : path;
  return { url, options: { method: form.dataset.method.toUpperCase(), headers, body } };
}

/** The path of a passthrough call keeps its slashes. */
function encodePath(name, value) {
  return name === 'path' ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
}

function authorizationFor(security) {
  const parts = {
    User: 'user',
    Organization: 'organization',
    ...(!security.includes('UserOrganization') && { Element: 'element' }),
  };
  const given = Object.entries(parts).map(([word, name]) => [
    word,
    document.querySelector(`#secret-${name}`).value.trim(),
  ]);
  return security === ''
    ? ''
    : given
        .filter(([, secret]) => secret !== '')
        .map((part) => part.join(' '))
        .join(', ');
}

/** The examples are about the instance that was made first. (`form.id` may be a field of that name.) */
function keepToken(form, response, text) {
  const field = document.querySelector('#secret-element');
  if (!response.ok || field.value !== '' || form.getAttribute('id') !== 'try-createInstance') return;
  field.value = JSON.parse(text).token;
}

function pretty(text) {
  try {
    // Numbers that a double cannot hold would change: such an answer is shown as it came.
    return /\d{16}/.test(text) ? text : JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text.length > 20_000 ? `${text.slice(0, 20_000)}…` : text;
  }
}

function element(name, text, className = '') {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}
