/**
 * Which variant a row of a merchant's file is about.
 *
 * T1. A variant is identified by its id, or by its product's handle and its options, or else by a code that exactly one
 *     variant has. Without an id, the id is made from handle and options, the same in every file. The code of a case
 *     leads to no row's variant: nobody knows whether the figures beside it are of cases or of pieces.
 */
import { codeKey, scannedCode } from "../core/goods/codes.ts";
import type { Shop } from "../shop/access/accounts.ts";
import { loadVariants } from "../shop/catalogue/catalogue.ts";
import { formsOfCode } from "../shop/code-forms.ts";
import { type CodedVariant, entriesWithCodes, variantsWithCodes } from "../shop/catalogue/look-ups.ts";
import type { Engine, Tx } from "../store/store.ts";
import type { ColumnWanted, CsvRow } from "./csv.ts";
import { codeOf, refused } from "./csv-values.ts";
import { type FileFaults, lineFault, shown } from "./file-format.ts";

export const variantColumns = {
  variantId: { headers: ["Variant ID"] },
  handle: { headers: ["Handle", "URL handle"] },
  option1: { headers: ["Option1 Value", "Option1"] },
  option2: { headers: ["Option2 Value", "Option2"] },
  option3: { headers: ["Option3 Value", "Option3"] },
  sku: { headers: ["Variant SKU", "SKU"] },
  barcode: { headers: ["Variant Barcode", "Barcode"] },
  supplierSku: { headers: ["Supplier SKU"] },
  supplierBarcode: { headers: ["Supplier barcode"] },
} as const satisfies Record<string, ColumnWanted>;

type VariantKey = keyof typeof variantColumns;

/** Columns with codes, those of the supplier first: a price list has them for certain. */
const codeKeys = ["supplierSku", "supplierBarcode", "barcode", "sku"] as const;

type CodeKey = (typeof codeKeys)[number];

/** Shopify's name for the one option of a product that has none. */
const noOption = "Default Title";

const optionKeys = ["option1", "option2", "option3"] as const;

/** True if the file has a column for options. */
export const hasOptions = (row: CsvRow<VariantKey>): boolean => optionKeys.some((key) => row.has(key));

export function optionsOf(row: CsvRow<VariantKey>): readonly string[] {
  const values = optionKeys.flatMap((key) => row.value(key) ?? []);
  return values.length === 1 && values[0] === noOption ? [] : values;
}

/** The id made for a variant without one (T1). It is readable and contains no comma, which separates ids in a list. */
export const variantIdOf = (handle: string, options: readonly string[]): string =>
  [handle, ...options].map(encodeURIComponent).join(":");

/** A row, and the supplier whose codes it may have; null: it has none. */
interface SuppliersRow {
  readonly row: CsvRow<VariantKey>;
  readonly supplierId: string | null;
}

/** The variant of a row, and the column that identifies it. */
interface RowVariant {
  readonly variantId: string;
  readonly key: VariantKey;
}

interface Code {
  readonly key: CodeKey;
  readonly code: string;
}

/**
 * The variant of each row; null for a row that leads to none, whose fault is added. An id is not looked up (C16); a
 * handle or a code is, in the catalogue and among the entries of the row's supplier.
 *
 * @throws Fault INVALID_INPUT when the file has as many faults as are told.
 */
export async function variantsOf(
  { engine, shop }: { readonly engine: Engine; readonly shop: Shop },
  rows: readonly SuppliersRow[],
  faults: FileFaults,
): Promise<readonly (RowVariant | null)[]> {
  const named = rows.map((row) => faults.tried(() => namedIn(row)));
  const handles = named.flatMap((name) => (name?.key === "handle" ? name.variantId : []));
  const codes = named.map((name) => (name?.key === "codes" ? name.codes : []));
  const [catalogue, found] = await engine.read(shop.shopId, async (tx) => [
    handles.length === 0 ? new Map<string, unknown>() : await loadVariants(tx, shop.shopId, handles),
    await loadCodes(tx, shop.shopId, rows, codes),
  ]);
  return rows.map(({ row, supplierId }, index) => {
    const name = named[index] ?? null;
    if (name === null) return null;
    if (name.key === "codes") return faults.tried(() => variantWith(row, supplierId, name.codes, found));
    if (name.key === "variantId" || catalogue.has(name.variantId)) return name;
    const spelled = [row.value("handle"), ...optionsOf(row)].join(" / ");
    faults.add(
      refused(
        row,
        "handle",
        `the catalogue has no ${spelled}; import the products first, or name the variant by its id`,
      ),
    );
    return null;
  });
}

/** Returns the names by which a row gives its variant. @throws Fault INVALID_INPUT when it is nothing. */
function namedIn({ row, supplierId }: SuppliersRow) {
  const variantId = codeOf(row, "variantId");
  if (variantId !== null) return { key: "variantId", variantId } as const;
  const handle = row.value("handle");
  if (handle !== null) return { key: "handle", variantId: variantIdOf(handle, optionsOf(row)) } as const;
  const codes = codeKeys.flatMap((key): readonly Code[] => {
    const code = supplierId === null && ofSupplier(key) ? null : codeOf(row, key);
    return code === null ? [] : [{ key, code }];
  });
  if (codes.length > 0) return { key: "codes", codes } as const;
  const message =
    "must name its variant by Variant ID, by Handle and option values, or by a SKU or barcode that one variant alone has";
  throw lineFault(row.lineNumber, [{ path: "", message }]);
}

// Codes.

const ofSupplier = (key: CodeKey): boolean => key === "supplierSku" || key === "supplierBarcode";

/** Variants with codes: by the column, and of a supplier's codes by the supplier, then by the code. */
type FoundCodes = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const placeOf = (key: CodeKey, supplierId: string | null): string => (ofSupplier(key) ? `${key} ${supplierId}` : key);

const noVariants: ReadonlySet<string> = new Set();

async function loadCodes(
  tx: Tx,
  shopId: string,
  rows: readonly SuppliersRow[],
  codes: readonly (readonly Code[])[],
): Promise<FoundCodes> {
  const wanted = new Map<
    string,
    { readonly key: CodeKey; readonly supplierId: string; readonly spellings: Set<string> }
  >();
  for (const [index, { supplierId }] of rows.entries())
    for (const { key, code } of codes[index] ?? []) {
      const place = placeOf(key, supplierId);
      const there = wanted.get(place) ?? { key, supplierId: supplierId ?? "", spellings: new Set() };
      for (const spelling of formsOfCode(code)) there.spellings.add(spelling);
      wanted.set(place, there);
    }
  const found = new Map<string, Map<string, Set<string>>>();
  for (const [place, { key, supplierId, spellings }] of wanted) {
    const variants: readonly CodedVariant[] =
      key === "sku" || key === "barcode"
        ? await variantsWithCodes(tx, shopId, key, [...spellings])
        : await entriesWithCodes(tx, shopId, supplierId, key, [...spellings]);
    const byCode = new Map<string, Set<string>>();
    for (const { code, variantId } of variants)
      byCode.set(codeKey(code), (byCode.get(codeKey(code)) ?? new Set()).add(variantId));
    found.set(place, byCode);
  }
  return found;
}

/**
 * The one variant that the codes of a row lead to. @throws Fault INVALID_INPUT when it is none, or they lead to
 * several.
 */
function variantWith(
  row: CsvRow<VariantKey>,
  supplierId: string | null,
  codes: readonly Code[],
  found: FoundCodes,
): RowVariant {
  const led = codes.map(({ key, code }) => {
    const byCode = found.get(placeOf(key, supplierId));
    const { keys, keyWithin } = scannedCode(code);
    const [within] = byCode?.get(keyWithin ?? "") ?? noVariants;
    return {
      key,
      code,
      within,
      variantIds: [...new Set(keys.flatMap((each) => [...(byCode?.get(each) ?? noVariants)]))],
    };
  });
  const byId = "name the variant by its id";
  const sure = led.flatMap(({ key, variantIds: [variantId, another] }) =>
    variantId === undefined || another !== undefined ? [] : { key, variantId },
  );
  const [first] = sure;
  const other = sure.find(({ variantId }) => variantId !== first?.variantId);
  if (first !== undefined && other === undefined) return first;
  if (first !== undefined && other !== undefined)
    throw refused(
      row,
      other.key,
      `is of variant ${other.variantId}, but ${shown(row.header(first.key))} of variant ${first.variantId}; ${byId}`,
    );
  const shared = led.find(({ variantIds }) => variantIds.length > 1);
  if (shared !== undefined)
    throw refused(row, shared.key, `${shown(shared.code)} is of ${shared.variantIds.length} variants; ${byId}`);
  const inCase = led.find(({ within }) => within !== undefined);
  if (inCase !== undefined)
    throw refused(
      row,
      inCase.key,
      `${shown(inCase.code)} is of a case of variant ${inCase.within}, and figures are of pieces; ${byId}`,
    );
  const [{ key, code } = { key: "sku", code: "" }] = led;
  throw refused(row, key, `no variant has ${shown(code)}; import the products first, or ${byId}`);
}
