// The script of the documentation: the search, the menu of small screens, and the forms that send requests. Without it the
// pages are readable all the same.

const navigation = document.querySelector('#docs-navigation');
const search = document.querySelector('#docs-search');
const results = document.querySelector('#docs-results');
const MOST_RESULTS = 20;

search.closest('form').hidden = false;
search.addEventListener('focus', loadIndex, { once: true });
search.addEventListener('input', () => showResults(search.value));
search.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown') moveTo(event, 0);
  if (event.key === 'Enter') results.querySelector('a')?.click();
});
results.addEventListener('keydown', (event) => {
  const links = [...results.querySelectorAll('a')];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) moveTo(event, links.indexOf(document.activeElement) + step);
});
results.addEventListener('click', (event) => {
  if (event.target.closest('a')) closeResults();
});
document.addEventListener('click', (event) => {
  if (!event.target.closest('#docs-results, #docs-search')) closeResults();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    closeResults();
    search.blur();
  }
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, textarea, select')) return;
  event.preventDefault();
  search.select();
  search.focus();
});

let index;

/** The index of all pages. The service makes it with the same library. */
function loadIndex() {
  index ??= Promise.all([import('/docs/assets/minisearch.js'), fetch('/docs/assets/search.json')])
    .then(async ([{ default: MiniSearch }, response]) => {
      if (!response.ok) throw new Error(`The search index is not available (status ${response.status}).`);
      return MiniSearch.loadJSON(await response.text(), {
        fields: ['title', 'name', 'page', 'text'],
        storeFields: ['href', 'title', 'page', 'text'],
      });
    })
    .catch((error) => {
      index = undefined;
      throw error;
    });
  return index;
}

/** Every word must be there; if no entry has all of them, words that are spelt alike count too. */
function find(loaded, query) {
  const options = { combineWith: 'AND', prefix: true, boost: { title: 4, name: 3, page: 2 } };
  const exact = loaded.search(query, options);
  return exact.length > 0 ? exact : loaded.search(query, { ...options, fuzzy: 0.2 });
}

async function showResults(query) {
  if (query.trim() === '') return closeResults();
  try {
    const loaded = await loadIndex();
    // The reader typed on while the index was loaded.
    if (query !== search.value) return;
    const found = find(loaded, query);
    const status = found.length === 0 ? 'Nothing found.' : `${found.length} results`;
    const list = element('ol', '');
    list.append(...found.slice(0, MOST_RESULTS).map(resultOf));
    results.replaceChildren(element('p', status, 'status'), list);
  } catch (error) {
    results.replaceChildren(element('p', `The search failed: ${error.message}`, 'bad'));
  }
  results.hidden = false;
  results.scrollTop = 0;
}

function resultOf({ href, title, page, text, terms }) {
  const link = element('a', '');
  link.href = href;
  const head = element('strong', '');
  head.append(...marked(title, terms));
  link.append(head);
  if (page !== title) link.append(element('span', page, 'page'));
  const excerpt = element('span', '', 'excerpt');
  excerpt.append(...marked(excerptOf(text, terms), terms));
  link.append(excerpt);
  const item = element('li', '');
  item.append(link);
  return item;
}

const EXCERPT_BEFORE = 60;
const EXCERPT_LENGTH = 180;

/** The text around the first word that was found. */
function excerptOf(text, terms) {
  const at = Math.max(text.search(patternOf(terms)), 0);
  const from = at <= EXCERPT_BEFORE ? 0 : text.indexOf(' ', at - EXCERPT_BEFORE) + 1;
  const end = from + EXCERPT_LENGTH;
  const shown = text.slice(from, end < text.length ? text.lastIndexOf(' ', end) : end);
  return `${from > 0 ? '… ' : ''}${shown}${end < text.length ? ' …' : ''}`;
}

/** The text with the words that were found marked, as nodes. */
function marked(text, terms) {
  return text.split(patternOf(terms)).map((part, at) => (at % 2 === 1 ? element('mark', part) : part));
}

function patternOf(terms) {
  const words = terms
    .toSorted((one, other) => other.length - one.length)
    .map((term) => term.replaceAll(/[^\p{L}\p{N}]/gu, '\\$&'));
  return new RegExp(`(${words.join('|')})`, 'i');
}

function closeResults() {
  results.hidden = true;
  results.replaceChildren();
}

/** Moves the focus among the results; above the first is the field. */
function moveTo(event, at) {
  event.preventDefault();
  if (at < 0) search.focus();
  else results.querySelectorAll('a')[at]?.focus();
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

const SECRETS = 'causeway-docs-secrets';
const secretFields = [...document.querySelectorAll('.secrets input')];

/** The browser keeps the secrets for all pages of this tab, until it is closed. */
function keepSecrets() {
  const given = secretFields.filter(({ value }) => value !== '').map(({ id, value }) => [id, value]);
  if (given.length === 0) sessionStorage.removeItem(SECRETS);
  else sessionStorage.setItem(SECRETS, JSON.stringify(Object.fromEntries(given)));
  showSecrets();
}

function showSecrets() {
  const count = secretFields.filter(({ value }) => value !== '').length;
  for (const place of document.querySelectorAll('.secrets-count'))
    place.textContent = count === 0 ? '' : `${count} of ${secretFields.length} entered`;
}

if (secretFields.length > 0) {
  const kept = JSON.parse(sessionStorage.getItem(SECRETS) ?? '{}');
  for (const field of secretFields) {
    field.value = kept[field.id] ?? '';
    field.addEventListener('input', keepSecrets);
  }
  document.querySelector('#forget-secrets').addEventListener('click', () => {
    for (const field of secretFields) field.value = '';
    keepSecrets();
    secretFields[0].focus();
  });
  showSecrets();
}

/** Elements that scroll are within reach of the keyboard. */
function focusScrollable() {
  for (const region of document.querySelectorAll('main pre, main table')) {
    const scrolls = region.scrollWidth > region.clientWidth || region.scrollHeight > region.clientHeight;
    if (scrolls) region.tabIndex = 0;
    else region.removeAttribute('tabindex');
  }
}

focusScrollable();
addEventListener('resize', focusScrollable);
// What is in a closed part has no size.
document.addEventListener('toggle', focusScrollable, true);

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

/** Empty fields are not sent. */
function requestOf(form) {
  const fields = [...form.querySelectorAll('[data-in]')].filter((field) => field.value !== '');
  const of = (place) => fields.filter((field) => field.dataset.in === place);
  const values = new Map(of('path').map((field) => [field.name, field.value]));
  const path = form.dataset.path.replace(/\{(\w+)\}/g, (_, name) => encodePath(name, values.get(name) ?? ''));
  const query = new URLSearchParams(of('query').map((field) => [field.name, field.value]));
  const headers = new Headers(of('header').map((field) => [field.name, field.value]));
  const authorization = authorizationFor(form.dataset.security);
  if (authorization !== '') headers.set('Authorization', authorization);
  const parts = [...form.querySelectorAll('.part')];
  const body = parts.length > 0 ? formOf(parts) : form.querySelector('.body')?.value;
  // The browser sets the type of a form, with its boundary.
  if (typeof body === 'string') headers.set('Content-Type', 'application/json');
  const url = query.size > 0 ? `${path}?${query}` : path;
  return { url, options: { method: form.dataset.method.toUpperCase(), headers, body } };
}

/** A part without a type is a file. */
function formOf(parts) {
  const data = new FormData();
  for (const { name, value, dataset } of parts) {
    if (dataset.type === undefined) data.append(name, new File([value], 'rows.csv', { type: 'text/csv' }));
    else data.append(name, new Blob([value], { type: dataset.type }));
  }
  return data;
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
  keepSecrets();
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
