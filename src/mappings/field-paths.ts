/** A step of a path: a member of an object, or items of an array. */
type Step = { readonly name: string } | { readonly items: string };

/** Maximum number of members that a path leads through. */
const MOST_DEPTH = 10;
const LONGEST_PATH = 255;

/** A member: anything but the signs of paths, those of `where`, and control characters. */
const NAME = String.raw`[^.[\]\u0000-\u001f\u0060\u007f]+`;
const MAPPED = new RegExp(String.raw`^${NAME}(?:\[(?:\*|\d{1,6})\])*(?:\.${NAME}(?:\[(?:\*|\d{1,6})\])*)*$`);
/** A choice of items by a value: `[id=4]`, `[?(@.id==2)]`. */
const CHOICE = String.raw`[^\]=?]+=[^\]]*|\?\(@(?:\.[^\]()=]+)+==[^\]()]*\)`;
const BRACKETS = String.raw`(?:\[(?:\*|\d{1,6}|${CHOICE})\])*`;
const VENDOR = new RegExp(String.raw`^${NAME}${BRACKETS}(?:\.${NAME}${BRACKETS})*(?:\.size\(\))?$`);

/** Returns why a text is no path of a mapped field, as the end of a sentence; undefined for a path. */
export function findPathFault(path: string): string | undefined {
  if (path.length > LONGEST_PATH) return `must have at most ${LONGEST_PATH} characters.`;
  if (!MAPPED.test(path) || /^\s|\s$/.test(path))
    return 'must be a path such as address.city, users[*].name or lines[0].price.';
  const names = stepsOf(path).flatMap((step) => ('name' in step ? [step.name] : []));
  if (names.length > MOST_DEPTH) return `must lead through at most ${MOST_DEPTH} members; it has ${names.length}.`;
  return names.includes('__proto__') ? "must not contain '__proto__'." : undefined;
}

/** Returns why a text is no path in a record of a provider, as the end of a sentence; undefined for a path. */
export function findVendorPathFault(path: string): string | undefined {
  if (path.length > LONGEST_PATH) return `must have at most ${LONGEST_PATH} characters.`;
  if (VENDOR.test(path)) return undefined;
  return 'must be a path such as a.b, a[0].b, a[*].b, a[id=4].b, a[?(@.id==2)].b or a[*].size().';
}

/** A path that contains another one, and the type that it must have. */
interface Container {
  readonly path: string;
  readonly type: 'object' | 'array';
}

/** Returns the containers of a mapped field, the outermost first: `a` and `a[*]` for `a[*].b`. */
export function containersOf(path: string): readonly Container[] {
  const steps = stepsOf(path);
  let at = '';
  return steps.slice(0, -1).map((step, index) => {
    at += 'name' in step ? `${at === '' ? '' : '.'}${step.name}` : step.items;
    const next = steps[index + 1];
    return { path: at, type: next !== undefined && 'items' in next ? 'array' : 'object' };
  });
}

function stepsOf(path: string): readonly Step[] {
  return [...path.matchAll(/\[[^\]]*\]|[^.[\]]+/g)].map(([text]) =>
    text.startsWith('[') ? { items: text } : { name: text },
  );
}
