/**
 * The colour of a product on the connect page, adjusted so that every text stays readable (WCAG 2.2, 1.4.3, level AA) in light and dark.
 */

/** Values of the variables of the design, by name. */
export type Shades = Readonly<Record<'--accent' | '--fill' | '--fill-hover' | '--on-fill', string>>;

/** Minimum contrast ratio of text (WCAG 2.2, 1.4.3). */
export const AA = 4.5;
/** The backgrounds of the design with the least contrast, and the colour that is mixed in to increase it. */
const LIGHT = { back: '#f5f7fa', towards: '#000000' } as const;
const DARK = { back: '#1f2731', towards: '#ffffff' } as const;
const STEPS = 40;
/** Share of black or white, whichever the text is not, that is mixed into the color of a button under the pointer. */
const HOVER = 0.12;

/**
 * Returns the shades for a colour. Buttons have the colour itself, with black or white text, whichever has more contrast. Links and
 * outlines have the nearest readable shade.
 * @param color `#rrggbb`
 */
export function shadesOf(color: string): Shades {
  const isDark = contrastOf(color, '#ffffff') >= contrastOf(color, '#000000');
  const [on, away] = isDark ? ['#ffffff', '#000000'] : ['#000000', '#ffffff'];
  return {
    '--accent': `light-dark(${readableOn(color, LIGHT)}, ${readableOn(color, DARK)})`,
    '--fill': color,
    // Away from the text, so that the contrast grows.
    '--fill-hover': mix(color, away, HOVER),
    '--on-fill': on,
  };
}

function readableOn(color: string, { back, towards }: typeof LIGHT | typeof DARK): string {
  for (let step = 0; step < STEPS; step++) {
    const shade = mix(color, towards, step / STEPS);
    if (contrastOf(shade, back) >= AA) return shade;
  }
  return towards;
}

/** Returns the contrast ratio of two colours, from 1 to 21, as WCAG defines it. */
export function contrastOf(one: string, other: string): number {
  const [less = 0, more = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (more + 0.05) / (less + 0.05);
}

/** Returns the relative luminance of a colour, as WCAG defines it. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(color).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(color: string, other: string, share: number): string {
  const others = partsOf(other);
  const parts = partsOf(color).map((part, at) => Math.round(part + ((others[at] ?? 0) - part) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function partsOf(color: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}
