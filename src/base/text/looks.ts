/** Names as a reader sees them, so that none passes for another's. */
import { fold } from "./fold.ts";

/** Letters of other alphabets, each group beside the Latin ones that look like it. */
const lookAlikes: readonly (readonly [string, string])[] = [
  ["АВЕЅІЈКМНОРСТУХѴԚԜԌӀ", "ABESIJKMHOPCTYXVQWGI"],
  ["авеѕіјкмнорстухѵԛԝԁһӏгпиь", "abesijkmhopctyxvqwdhirnub"],
  ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϳ", "ABEZHIKMNOPTYXCj"],
  ["αβεηικνορστυχγωϲ", "abenikvopotuxywc"],
  ["օսոցհզ", "ounghq"],
  ["ᎠᎡᎢᏟᎪᎷᎻᎬᏢᏚᎳᎫᏞᏓᏃᏙᎥ", "DRTCAMHEPSWJLLZVi"],
  ["ᴀʙᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢɑɡɩ", "abcdeghijklmnoprtuvwyzagi"],
];

const latinOf: ReadonlyMap<string, string> = new Map(
  lookAlikes.flatMap(([others, latin]) =>
    Array.from(others, (letter, index) => [letter, latin[index] ?? letter] as const),
  ),
);

/** Digits and letters that cannot be told apart in many fonts; `text` is in lower case. */
const withoutDoubles = (text: string): string => text.replace(/[l1|]/g, "i").replaceAll("0", "o");

/**
 * The look of a name: two with the same one look the same. Case, accents and blanks do not count, and neither does what
 * is not seen or the alphabet of a letter.
 */
export function looksOf(name: string): string {
  const latin = Array.from(name.normalize("NFKD"), (letter) => latinOf.get(letter) ?? letter).join("");
  return withoutDoubles(fold(latin))
    .replaceAll(/\p{Default_Ignorable_Code_Point}+/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
