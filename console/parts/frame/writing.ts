/** True if the key was pressed where people write or choose: it is no shortcut there. A tick box takes no letters. */
export const isWriting = ({ target }: Event): boolean =>
  target instanceof Element && target.closest("input:not([type='checkbox']), textarea, select, dialog") !== null;
