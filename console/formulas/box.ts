/** The size of a box of the graph in pixels. The design has the same. */
export const BOX_WIDTH = 190;
export const BOX_HEIGHT = 54;
