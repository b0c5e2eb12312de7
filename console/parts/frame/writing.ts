/** True if the key was pressed where people write or choose: it is no shortcut there. */
export const isWriting = ({ target }: Event): boolean =>
  target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
