/** Pictures of products: those at addresses that the page's policy names, which are the storefront's own. */
import { type Signal, signal, useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { openpo } from "../data/client.ts";
import { shopId } from "../data/session.ts";
import { Icon } from "./icon.tsx";

/** Origins whose pictures the page's policy allows: those of the storefront of the shop for which it was loaded. */
export const pictureOrigins: readonly string[] = document.documentElement.dataset["pictures"]?.split(" ") ?? [];

/** True if the page may show what is at this address. */
export const isShown = (url: string): boolean => pictureOrigins.some((origin) => url.startsWith(`${origin}/`));

/** Where the picture is; where Shopify keeps it, in about the size that is shown. */
const sourceOf = (url: string, size: number): string =>
  url.startsWith("https://cdn.shopify.com/") ? `${url}${url.includes("?") ? "&" : "?"}width=${size * 2}` : url;

interface PictureProps {
  readonly url: string | null | undefined;
  /** Left out: it stands beside the name. */
  readonly name?: string;
  readonly size?: number;
}

/** The picture; one that is not there keeps its place. In a shop whose storefront brings none there is no place. */
export const Picture: FunctionComponent<PictureProps> = ({ url, name = "", size = 28 }) => {
  const isBroken = useSignal(false);
  if (pictureOrigins.length === 0) return null;
  return url && isShown(url) && !isBroken.value ? (
    <img
      class="picture"
      src={sourceOf(url, size)}
      alt={name}
      width={size}
      height={size}
      loading="lazy"
      referrerpolicy="no-referrer"
      onError={() => (isBroken.value = true)}
    />
  ) : (
    <span class="picture">
      <Icon name="tag" />
    </span>
  );
};

/** Addresses by the variant. */
const known = new Map<string, Signal<string | null>>();
let asked: string[] = [];

/** Variants that are asked for at once. */
const askedMax = 50;

async function ask(): Promise<void> {
  const ids = asked;
  asked = [];
  if (ids.length === 0) return;
  const answer = await openpo.call("variant_search", { shopId: shopId(), ids, limit: askedMax });
  for (const { variantId, imageUrl } of answer.ok ? answer.data.variants : []) {
    const url = known.get(variantId);
    if (url !== undefined) url.value = imageUrl;
  }
}

/** The address of a variant's picture, asked for with those that are drawn at the same time. */
function addressOf(variantId: string): Signal<string | null> {
  const before = known.get(variantId);
  if (before !== undefined) return before;
  const url = signal<string | null>(null);
  known.set(variantId, url);
  asked.push(variantId);
  if (asked.length === 1) setTimeout(() => void ask(), 0);
  if (asked.length === askedMax) void ask();
  return url;
}

/** The picture of a variant whose name stands beside it. */
export const VariantPicture: FunctionComponent<{ readonly variantId: string }> = ({ variantId }) =>
  pictureOrigins.length === 0 ? null : <Picture url={addressOf(variantId).value} />;
