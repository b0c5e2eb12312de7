/** Settings that owners make for their shop, and for its documents. */
import type { FunctionComponent } from "preact";
import { useReading } from "../data/reading.ts";
import { shopId } from "../data/session.ts";
import { OwnerOnly } from "../parts/owner-only.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { hrefOf, place } from "../router.ts";
import { settingsTexts as words } from "../texts/settings.ts";
import { Letterhead } from "./letterhead.tsx";
import { ShopSettings } from "./shop-settings.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

export const SettingsScreen: FunctionComponent = () => {
  const isOfDocuments = place.value.steps[1] === "documents";
  const views = [
    { title: words.views.shop, href: hrefOf("settings"), isHere: !isOfDocuments },
    { title: words.views.documents, href: hrefOf("settings", "documents"), isHere: isOfDocuments },
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
      {isOfDocuments ? <Letterhead /> : <OfShop />}
    </OwnerOnly>
  );
};

const OfShop: FunctionComponent = () => {
  const { data, problem, again } = useReading("shop_get", { shopId: shopId() });
  return (
    <>
      <p class="quiet">{words.lead}</p>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data === null && problem === null ? <Skeleton /> : null}
      {data === null ? null : <ShopSettings shop={data.shop} isOperator={false} />}
    </>
  );
};
