import { api, askPage, type Schemas } from '../api.ts';
import { Badge } from '../parts/badge.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { useQuery, useTyped } from './address.ts';
import { Mark } from './mark.tsx';

type Element = Schemas['Element'];

const PAGE_SIZE = 200;

/** Lists the elements that an account can be connected for. */
export function ElementChoice() {
  const [{ q = '' }, change] = useQuery();
  const [words, setWords] = useTyped(q, (text) => change({ q: text }));
  const searchText = q.trim();
  const list = usePages(
    (nextPage, signal) =>
      askPage<Element>(
        api.GET('/elements', {
          signal,
          params: {
            query: {
              pageSize: PAGE_SIZE,
              ...(searchText !== '' && { searchText }),
              ...(nextPage !== undefined && { nextPage }),
            },
          },
        }),
      ),
    [searchText],
  );
  return (
    <div class="stack">
      <header class="stack tight">
        <a href="/console/instances">← Instances</a>
        <h1>Connect an account</h1>
      </header>
      <input
        type="search"
        aria-label="Search elements"
        placeholder="Search by name  ( / )"
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      <Show loaded={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="No element matches. Change the search.">
              <a href="/console/instances/new">Show all</a>
            </Empty>
          ) : (
            <ul class="tiles" aria-label="Elements">
              {rows.map((element) => (
                <li key={element.key}>
                  <Tile element={element} />
                </li>
              ))}
            </ul>
          )
        }
      </Show>
      <Pager {...list} />
    </div>
  );
}

function Tile({ element }: { readonly element: Element }) {
  const { key, name, description, hub, image, active, beta } = element;
  const inside = (
    <>
      <Mark image={image} />
      <span class="stack tight">
        <span class="row">
          <span class="strong">{name}</span> <Badge tone="quiet">{hub}</Badge> {beta && <Badge tone="warn">beta</Badge>}
          {!active && <Badge tone="warn">inactive</Badge>}
        </span>
        <span class="small soft">{description}</span>
      </span>
    </>
  );
  if (!active)
    return (
      <div
        class="card tile"
        title="The element is inactive, so the account cannot create instances of it. A user with the right to edit elements can activate it."
      >
        {inside}
      </div>
    );
  return (
    <a class="card tile" href={`/console/instances/new/${encodeURIComponent(key)}`}>
      {inside}
    </a>
  );
}
