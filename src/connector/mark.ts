/** The picture of an element: a white shape on a colour. It shows what the provider is for and copies no logo. */
export interface Mark {
  readonly shape: MarkShape;
  readonly colour: MarkColour;
}

/** The name of a shape of `MARK_SHAPES`. */
export type MarkShape = keyof typeof MARK_SHAPES;
/** The name of a colour of `MARK_COLOURS`. */
export type MarkColour = keyof typeof MARK_COLOURS;

/**
 * The colours of marks as RGB. Each has a contrast of at least 3 with white and with the dark background of the pages (WCAG 2.2, 1.4.11).
 */
export const MARK_COLOURS = {
  red: '#da493e',
  orange: '#c46025',
  amber: '#a5730d',
  olive: '#74840b',
  green: '#0c9022',
  teal: '#0b8c72',
  cyan: '#0d87a5',
  blue: '#2e7dd7',
  indigo: '#6172e1',
  violet: '#9162e1',
  magenta: '#d428cf',
  pink: '#db4079',
  slate: '#677d9e',
  brown: '#ae6b4e',
} as const;

const circle = (x: number, y: number, r: number) =>
  `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0-${2 * r} 0z`;
const box = (x: number, y: number, width: number, height: number) => `M${x} ${y}h${width}v${height}h-${width}z`;

/** Four bands across a ring. */
const BANDS = 'M17 22l5-5 7 7-5 5zM42 17l5 5-7 7-5-5zM47 42l-5 5-7-7 5-5zM22 47l-5-5 7-7 5 5z';

/**
 * The shapes of marks: SVG paths in a square of 64 by 64, drawn between 12 and 52. The first path is white. The second lies behind it in
 * half-transparent white. Where areas of a path overlap, there is a hole.
 */
export const MARK_SHAPES = {
  people: [`${circle(26, 25, 7)}M13 48a13 13 0 0 1 26 0z`, `${circle(42, 27, 6)}M42 48h10a11 11 0 0 0-14-11q4 4 4 11z`],
  target: [
    `${circle(32, 32, 16)}${circle(32, 32, 11)}${circle(32, 32, 5)}`,
    `${box(30, 12, 4, 40)}${box(12, 30, 40, 4)}`,
  ],
  funnel: ['M13 15h38L37 33v16l-10-6V33z', 'M40 38h12v4H40zm0 7h9v4h-9z'],
  network: [
    `${circle(32, 18, 6)}${circle(18, 44, 6)}${circle(46, 44, 6)}`,
    'M30 22h4l14 24h-4L32 26 20 46h-4zM20 42h24v4H20z',
  ],
  folder: ['M12 24h40v25H12z', 'M12 15h16l4 6h20v1H12z'],
  card: ['M12 26h40v21H12zm5 12v4h11v-4z', 'M12 17h40v6H12z'],
  suitcase: ['M12 24h18v25H12zm22 0h18v25H34z', 'M22 22v-7h20v7h-4v-3H26v3z'],
  ledger: [`${box(14, 34, 8, 15)}${box(28, 26, 8, 23)}${box(42, 14, 8, 35)}`, 'M13 26l15-11 3 4-15 11z'],
  calculator: [
    `${box(16, 12, 32, 40)}${box(21, 17, 22, 9)}${box(21, 31, 5, 5)}${box(29.5, 31, 5, 5)}${box(21, 40, 5, 5)}${box(29.5, 40, 5, 5)}`,
    box(38, 31, 5, 14),
  ],
  receipt: [`M16 12h32v40l-5-4-6 4-5-4-5 4-6-4-5 4z${box(22, 20, 20, 4)}${box(22, 28, 20, 4)}`, box(22, 36, 12, 4)],
  checklist: [
    'M12 19l4-3 4 4 7-8 3 3-10 11zM12 41l4-3 4 4 7-8 3 3-10 11z',
    `${box(34, 17, 18, 5)}${box(34, 39, 18, 5)}`,
  ],
  ticket: ['M12 18h24v28H12v-8a6 6 0 0 0 0-12z', 'M40 18h12v8a6 6 0 0 0 0 12v8H40z'],
  lifebuoy: [`${circle(32, 32, 20)}${circle(32, 32, 8)}${BANDS}`, BANDS],
  speech: ['M12 14h32v22H26l-8 8v-8h-6z', 'M48 22h4v22h-4v7l-8-7H30l5-5h13z'],
  envelope: ['M12 21l20 15 20-15v27H12z', 'M12 16h40L32 31z'],
  table: [`${box(12, 26, 11, 9)}${box(26, 26, 26, 9)}${box(12, 38, 11, 9)}${box(26, 38, 26, 9)}`, box(12, 15, 40, 8)],
  cylinder: ['M14 25v20c0 9 36 9 36 0V25c0 8-36 8-36 0z', 'M14 20c0-9 36-9 36 0s-36 9-36 0z'],
  cart: [`M12 14h7l2 6h31l-5 20H22L16 18h-4z${circle(26, 47, 4)}${circle(43, 47, 4)}`, box(24, 26, 22, 4)],
  calendar: [
    `M12 26h40v25H12z${box(18, 32, 7, 6)}${box(29, 32, 7, 6)}${box(40, 32, 7, 6)}`,
    'M12 17h6v-4h5v4h18v-4h5v4h6v6H12z',
  ],
  pulse: ['M12 30h10l5-16 9 30 5-14h11v5h-8l-8 17-9-29-2 12H12z', circle(46, 18, 5)],
  petals: [
    'M32 32V14a12 12 0 0 1 0 18h18a12 12 0 0 1-18 0v18a12 12 0 0 1 0-18H14a12 12 0 0 1 18 0z',
    circle(32, 32, 20),
  ],
  waves: [
    'M12 34c10-12 16 12 40-4v6c-24 16-30-8-40 4z',
    'M12 20c10-12 16 12 40-4v6c-24 16-30-8-40 4zM12 48c10-12 16 12 40-4v6c-24 16-30-8-40 4z',
  ],
  blocks: [`${box(12, 34, 18, 18)}${box(34, 34, 18, 18)}`, box(23, 12, 18, 18)],
  rings: [`${circle(25, 32, 13)}${circle(25, 32, 8)}`, `${circle(39, 32, 13)}${circle(39, 32, 8)}`],
  steps: ['M12 50V38h13V26h13V14h14v36z', 'M12 14h14v5H12zm0 9h8v5h-8z'],
} as const satisfies Readonly<Record<string, readonly [white: string, half: string]>>;

/** The shape of elements that declare no mark, by their hub. */
export const SHAPE_OF_HUB: Readonly<Record<string, MarkShape>> = {
  crm: 'target',
  documents: 'folder',
  ecommerce: 'cart',
  erp: 'ledger',
  expense: 'suitcase',
  finance: 'calculator',
  helpdesk: 'ticket',
  humancapital: 'people',
  marketing: 'funnel',
  messaging: 'speech',
  payment: 'card',
  db: 'cylinder',
  social: 'network',
  calendar: 'calendar',
  email: 'envelope',
  iot: 'pulse',
};

/** The shapes of elements that declare no mark and whose hub has no shape of its own. */
export const ABSTRACT_SHAPES = ['petals', 'waves', 'blocks', 'rings', 'steps'] as const satisfies readonly MarkShape[];
