/** The project's mark: its drawing, a picture within a page, a file, and the icon that a page carries itself. */
export const markDrawing =
  '<g id="mark"><rect width="32" height="32" rx="8" fill="#0a6570"/><path d="M9 14.5v6.2a2 2 0 0 0 1.1 1.8l5 2.5a2 2 0 0 0 1.8 0l5-2.5a2 2 0 0 0 1.1-1.8v-6.2" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/><path d="m9.4 11.2 6.6 3.3 6.6-3.3M16 6.5v8" fill="none" stroke="#9be4ec" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></g>';

const boxed = 'viewBox="0 0 32 32"';

/** Within a page, which names no address: it needs no name of the language. */
export const markInPage = `<svg ${boxed}>${markDrawing}</svg>`;

export const markSvg = `<svg xmlns="http://www.w3.org/2000/svg" ${boxed}>${markDrawing}</svg>`;

/** Address of the icon that a page carries itself. */
export const iconAddress = `data:image/svg+xml,${encodeURIComponent(markSvg)}`;
