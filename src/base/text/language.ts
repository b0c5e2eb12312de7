/** Languages in which people are spoken to, and the one of a page that a browser likes. */

/** Languages of the console, of documents, mails and suppliers' pages, as codes of ISO 639-1. */
export const languages = ["en", "de", "fr", "es", "nl"] as const;

/** One of them. */
export type Language = (typeof languages)[number];

/** Languages of the header that are read: more is no browser's. */
const acceptedMax = 20;

/** Returns the language of these that `Accept-Language` likes best; null when it names none of them. */
export function languageLiked<Offered extends string>(
  acceptLanguage: string | null,
  offered: readonly Offered[],
): Offered | null {
  const liked = (acceptLanguage ?? "")
    .split(",", acceptedMax)
    .flatMap((entry) => {
      const [tag = "", ...parameters] = entry.trim().toLowerCase().split(";");
      const language = offered.find((each) => tag === each || tag.startsWith(`${each}-`));
      const quality = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find((each) => each !== undefined);
      return language === undefined ? [] : [{ language, quality: Number(quality ?? 1) }];
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  return liked[0]?.language ?? null;
}
