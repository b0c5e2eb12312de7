/** Forms as they are sent. */

/** Returns the text of a field, without spaces around it. */
export const field = (form: HTMLFormElement, name: string): string => {
  const value = new FormData(form).get(name);
  return typeof value === "string" ? value.trim() : "";
};
