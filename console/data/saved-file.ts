/** Files that the console offers to its reader. */

/** Offers the text to the reader as a file. */
export const saveFile = (name: string, text: string): void =>
  saveBlob(name, new Blob([text], { type: "text/csv;charset=utf-8" }));

/** Offers the bytes to the reader as a file. */
export function saveBlob(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
