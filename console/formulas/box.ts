/** Width of a box of the graph in pixels. `design.css` has the same width. */
export const BOX_WIDTH = 190;
export const BOX_HEIGHT = 54;
