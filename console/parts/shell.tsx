/** Frame around every screen: navigation, the shop, who is signed in. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { hasRole, type Session, signOut } from "../data/session.ts";
import { hrefOf, place } from "../router.ts";
import { texts } from "../texts/texts.ts";

/** Screens in the navigation, by the first step of their path, for people with at least this role. */
const entries = [
  { step: "orders", title: texts.navigation.orders, least: "viewer" },
  { step: "dock", title: texts.navigation.dock, least: "viewer" },
  { step: "reorder", title: texts.navigation.reorder, least: "viewer" },
  { step: "import", title: texts.navigation.import, least: "owner" },
  { step: "stock", title: texts.navigation.stock, least: "viewer" },
  { step: "keys", title: texts.navigation.keys, least: "owner" },
  { step: "activity", title: texts.navigation.activity, least: "viewer" },
  { step: "people", title: texts.navigation.people, least: "owner" },
  { step: "webhooks", title: texts.navigation.webhooks, least: "owner" },
  { step: "storefront", title: texts.navigation.storefront, least: "owner" },
  { step: "settings", title: texts.navigation.settings, least: "owner" },
] as const;

export const Shell: FunctionComponent<{ readonly session: Session; readonly children: ComponentChildren }> = ({
  session,
  children,
}) => {
  const [first = "orders"] = place.value.steps;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [first]);
  return (
    <>
      <a class="skip" href="#content">
        {texts.navigation.skip}
      </a>
      <header class="bar">
        <a class="brand" href={hrefOf("orders")} title={session.shop.name}>
          {session.shop.name}
        </a>
        <nav ref={nav} aria-label={texts.navigation.label}>
          {entries
            .filter(({ least }) => hasRole(least))
            .map(({ step, title }) => (
              <a key={step} href={hrefOf(step)} aria-current={step === first ? "page" : undefined}>
                {title}
              </a>
            ))}
        </nav>
        <div class="who">
          {session.person.personId === null ? <a href={hrefOf("shops")}>{texts.navigation.shops}</a> : null}
          <button type="button" class="plain me" popovertarget="me">
            {session.person.name} <span class="quiet">{session.person.role}</span>
          </button>
          <button type="button" class="plain" onClick={() => void signOut()}>
            {texts.navigation.signOut}
          </button>
          <div id="me" popover="auto">
            <p>
              {session.person.name} <span class="quiet">{session.person.role}</span>
            </p>
            <button type="button" onClick={() => void signOut({ everywhere: true })}>
              {texts.navigation.signOutEverywhere}
            </button>
            <p class="quiet">{texts.navigation.signOutEverywhereHint}</p>
          </div>
        </div>
      </header>
      <main id="content">{children}</main>
    </>
  );
};
