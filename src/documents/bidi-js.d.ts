/** Parts of bidi-js that are used: its own types are those of another kind of module. */
declare module "bidi-js" {
  export default function bidiFactory(): {
    getEmbeddingLevels(
      text: string,
      baseDirection: "ltr" | "rtl" | "auto",
    ): {
      /** One for each UTF-16 unit; odd: from right to left. */
      readonly levels: Uint8Array;
      readonly paragraphs: readonly { readonly level: number }[];
    };
    getMirroredCharacter(character: string): string | null;
  };
}
