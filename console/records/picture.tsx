/** The picture of a product, where it has one. */
import type { FunctionComponent } from "preact";
import { platform } from "./fields.ts";

/** Where the products come from a storefront, one without a picture keeps the place of one. */
export const Picture: FunctionComponent<{ readonly url: string | null }> = ({ url }) =>
  url === null ? (
    platform() === null ? null : (
      <span class="picture" />
    )
  ) : (
    <img class="picture" src={url} alt="" loading="lazy" />
  );
