/** Settings that owners make for their shop, and for its documents. */
import type { FunctionComponent } from "preact";
import type { Output } from "../../client/index.ts";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { OwnerOnly } from "../parts/owner-only.tsx";
import { lazy } from "../parts/lazy.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { hrefOf, place } from "../router.ts";
import { settingsTexts as words } from "../texts/en/shop/settings.ts";
import { Letterhead } from "./letterhead.tsx";
import { ShopSettings } from "./shop-settings.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

export const SettingsScreen: FunctionComponent = () => {
  const [, part] = place.value.steps;
  const views = [
    { title: words.views.shop, href: hrefOf("settings"), isHere: part === undefined },
    { title: words.views.approvals, href: hrefOf("settings", "approvals"), isHere: part === "approvals" },
    { title: words.views.documents, href: hrefOf("settings", "documents"), isHere: part === "documents" },
  ];
  return (
    <OwnerOnly why={words.why}>
      <div class="heading">
        <h1>{words.title}</h1>
        <div class="tabs">
          {views.map(({ title, href, isHere }) => (
            <a key={href} href={href} aria-current={isHere ? "page" : undefined}>
              {title}
            </a>
          ))}
        </div>
      </div>
      {part === "documents" ? (
        <Letterhead />
      ) : (
        <OfShop key={part} of={part === "approvals" ? Approvals : OwnSettings} />
      )}
    </OwnerOnly>
  );
};

/** Rules of approval. Their script is loaded when they are opened. */
const Approvals = lazy(async () => (await import("./approvals.tsx")).Approvals);

type OfShopProps = { readonly shop: Output<"shop_put">["shop"] };

const OwnSettings: FunctionComponent<OfShopProps> = ({ shop }) => (
  <>
    <p class="quiet">{words.lead}</p>
    <ShopSettings shop={shop} isOperator={false} />
  </>
);

const OfShop: FunctionComponent<{ readonly of: FunctionComponent<OfShopProps> }> = ({ of: Part }) => {
  const { data, problem, again } = useReading("shop_get", { shopId: shopId() });
  return (
    <>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data === null && problem === null ? <Skeleton /> : null}
      {data === null ? null : <Part shop={data.shop} />}
    </>
  );
};
