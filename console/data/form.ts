/** Forms as they are sent. */

/** What was written in a field, without spaces around it. */
export const field = (form: HTMLFormElement, name: string): string => {
  const value = new FormData(form).get(name);
  return typeof value === "string" ? value.trim() : "";
};
