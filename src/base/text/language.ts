/** Language of a page, as the browser likes it. */

/** Languages of the header that are read: more is no browser's. */
const acceptedMax = 20;

/** Returns the language of these that `Accept-Language` likes best; null when it names none of them. */
export function languageLiked<Language extends string>(
  acceptLanguage: string | null,
  languages: readonly Language[],
): Language | null {
  const liked = (acceptLanguage ?? "")
    .split(",", acceptedMax)
    .flatMap((entry) => {
      const [tag = "", ...parameters] = entry.trim().toLowerCase().split(";");
      const language = languages.find((each) => tag === each || tag.startsWith(`${each}-`));
      const quality = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find((each) => each !== undefined);
      return language === undefined ? [] : [{ language, quality: Number(quality ?? 1) }];
    })
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality);
  return liked[0]?.language ?? null;
}
