/** The console: who is signed in decides between signing in and the screens; the path decides which screen. */
import { effect, useSignalEffect } from "@preact/signals";
import { type FunctionComponent, render } from "preact";
import { followLanguage, followLook } from "./data/look.ts";
import { renewBearer, type Session, sessionState, signedIn } from "./data/session.ts";
import { OrdersScreen } from "./orders/orders.tsx";
import { keepFocus } from "./kept-focus.ts";
import { lazy, type LazyComponent } from "./parts/lazy.tsx";
import { Shell } from "./parts/frame/shell.tsx";
import { pictureOrigins } from "./parts/picture.tsx";
import type { ScreenName } from "./places.ts";
import { hrefOf, place, startRouter } from "./router.ts";
import { SignInAgain, SignInScreen } from "./people/sign-in.tsx";
import { secretIn } from "./people/typed.ts";
import { texts } from "./texts/en/texts.ts";
import { titleOf } from "./title.ts";

const OrderScreen = lazy(async () => (await import("./order/order.tsx")).OrderScreen);

const RecordsScreen = lazy(async () => (await import("./records/records.tsx")).RecordsScreen);

/** An order as it is printed. Its script is loaded when it is opened. */
const PrintScreen = lazy(async () => (await import("./order/supplier/print.tsx")).PrintScreen);

/**
 * The screens by the first step of the path. A screen has a folder of its own and reads the rest of the path itself.
 */
const screens: Readonly<Record<ScreenName, FunctionComponent | LazyComponent<object>>> = {
  home: lazy(async () => (await import("./home/home.tsx")).HomeScreen),
  orders: () => {
    const [, purchaseOrderId, task] = place.value.steps;
    if (task === "print") return <PrintScreen />;
    return purchaseOrderId === undefined ? (
      <OrdersScreen />
    ) : (
      <OrderScreen key={purchaseOrderId} purchaseOrderId={purchaseOrderId} />
    );
  },
  "new-order": lazy(async () => (await import("./orders/new-order.tsx")).NewOrderScreen),
  // The scripts of these are loaded when they are opened.
  dock: lazy(async () => (await import("./receive/dock.tsx")).DockScreen),
  receive: lazy(async () => (await import("./receive/receive.tsx")).ReceiveScreen),
  reorder: lazy(async () => (await import("./reorder/reorder.tsx")).ReorderScreen),
  import: lazy(async () => (await import("./import/import.tsx")).ImportScreen),
  stock: lazy(async () => (await import("./stock/stock.tsx")).StockScreen),
  suppliers: RecordsScreen,
  products: RecordsScreen,
  locations: RecordsScreen,
  new: RecordsScreen,
  connect: lazy(async () => (await import("./keys/connect.tsx")).ConnectScreen),
  approvals: lazy(async () => (await import("./approvals/approvals.tsx")).ApprovalsScreen),
  keys: lazy(async () => (await import("./keys/keys.tsx")).KeysScreen),
  activity: lazy(async () => (await import("./activity/activity.tsx")).ActivityScreen),
  people: lazy(async () => (await import("./people/people.tsx")).PeopleScreen),
  account: lazy(async () => (await import("./people/people.tsx")).Passkeys),
  storefront: lazy(async () => (await import("./storefront/storefront.tsx")).StorefrontScreen),
  settings: lazy(async () => (await import("./settings/settings.tsx")).SettingsScreen),
  webhooks: lazy(async () => (await import("./webhooks/webhooks.tsx")).WebhooksScreen),
  shops: lazy(async () => (await import("./operator/operator.tsx")).ShopsScreen),
};

/** True where the console was built with its kit (`console/build.ts --kit`). */
declare const hasKit: boolean;

const KitScreen = hasKit ? lazy(async () => (await import("./kit/kit.tsx")).KitScreen) : null;

/** Where the operator chooses a shop. */
const OperatorScreen = lazy(async () => (await import("./operator/operator.tsx")).OperatorScreen);

const isScreen = (step: string): step is ScreenName => Object.hasOwn(screens, step);

const NotFound: FunctionComponent = () => (
  <div class="empty">
    <h1>{texts.notFound}</h1>
    <a class="button" href={hrefOf("home")}>
      {texts.titles.home}
    </a>
  </div>
);

const App: FunctionComponent = () => {
  useSignalEffect(() => {
    document.documentElement.dataset["session"] = sessionState.value.kind;
  });
  const { kind } = sessionState.value;
  const session = signedIn();
  useSignalEffect(() => {
    const shopName = signedIn()?.shop.name ?? null;
    document.title =
      shopName === null && sessionState.value.kind === "signed-out"
        ? `${texts.signIn.title} · ${texts.titles.console}`
        : titleOf(place.value.steps, shopName);
  });
  if (kind === "unknown") return null;
  if (kind === "choose-shop") return <OperatorScreen />;
  const [given = "home", ...further] = place.value.steps;
  // Without an order: the place where one is found.
  const first = given === "receive" && further.length === 0 ? "dock" : given;
  const Screen = isScreen(first) ? screens[first] : ((first === "kit" ? KitScreen : null) ?? NotFound);
  // Signing in again is laid over the screen of a session that has ended. Another person begins with a screen that is
  // new.
  return (
    <>
      {session === null ? null : (
        <Shell key={screensOwner(session)} session={session}>
          <Screen />
        </Shell>
      )}
      {kind === "signed-out" ? (
        session === null ? (
          <SignInScreen key="sign-in" lead={isAsked() ? texts.signIn.asked : undefined} />
        ) : (
          <SignInAgain key="again" />
        )
      ) : null}
    </>
  );
};

/** True if an assistant has sent the person here. */
const isAsked = (): boolean => place.value.steps[0] === "connect" && place.value.query.has("client_id");

/** Whoever comes back by a new invitation is a new person to the service, and has the same name and role. */
const screensOwner = ({ person, shop }: Session): string => JSON.stringify([shop.shopId, person.name, person.role]);

/** The shop for whose session the page was loaded; null without one. */
let shopOfPage: string | null | undefined;

// The page's policy allows pictures of that shop. Who comes to another one needs another page, if either has pictures;
// the operator, whose session is of no shop, is shown none.
effect(() => {
  if (sessionState.value.kind === "unknown") return;
  const session = signedIn();
  const shopId = session?.shop.shopId ?? null;
  if (shopOfPage === undefined) shopOfPage = shopId;
  const mayHave = session !== null && session.person.personId !== null && session.shop.storefront !== null;
  if (shopId !== null && shopId !== shopOfPage && (mayHave || pictureOrigins.length > 0)) location.reload();
});

followLook();
followLanguage();
startRouter();
keepFocus();
// A link that is opened where the console is open already changes the fragment alone.
addEventListener("hashchange", () => {
  if (secretIn(location.hash) !== null) location.reload();
});
// The script of the screen is asked for beside the bearer, and not after it.
const [firstStep = "home", orderId] = place.peek().steps;
const firstScreen =
  firstStep === "orders" && orderId !== undefined ? OrderScreen : isScreen(firstStep) ? screens[firstStep] : null;
if (firstScreen !== null && "begin" in firstScreen) firstScreen.begin();
// A link decides who is signed in; without one the cookie does.
if (secretIn(location.hash) === null) void renewBearer();
else sessionState.value = { kind: "signed-out", ended: null };
const root = document.getElementById("console");
if (root !== null) render(<App />, root);
