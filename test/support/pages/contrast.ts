/**
 * Contrast of what a page shows, in each state that a control can be in: of text, of icons, of the edges of fields and of the ring that shows the
 * focus. Colours are those that the browser has computed, laid over what lies below them. WCAG 2.2, 1.4.3 and 1.4.11.
 */
import type { Page } from "playwright-core";

/** States that are forced on all controls of a page at a time, by the names of their pseudo-classes. */
const states = {
  plain: [],
  hover: ["hover"],
  focus: ["focus", "focus-visible"],
  pressed: ["hover", "active"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type State = keyof typeof states;

/** What a pointer or a key can be at, and the rows that show it. */
const controls = "a, button, input, select, textarea, summary, label, tr, [role=option], [tabindex]";

/**
 * Returns how all controls of the page are put into a state, and out of it. A page draws anew while it is asked, so controls that have left it are not
 * waited for, and those that stand in their place are put into the state too.
 */
export async function stateOf(page: Page): Promise<(state: State) => Promise<void>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("DOM.enable");
  await devtools.send("CSS.enable");
  const { root } = await devtools.send("DOM.getDocument", { depth: 0 });
  const onPage = async (): Promise<readonly number[]> =>
    (await devtools.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector: controls })).nodeIds;
  return async (state) => {
    const forcedPseudoClasses = [...states[state]];
    const done = new Set<number>();
    for (let left = await onPage(); left.length > 0; left = (await onPage()).filter((nodeId) => !done.has(nodeId))) {
      const sent = left.map((nodeId) => devtools.send("CSS.forcePseudoState", { nodeId, forcedPseudoClasses }));
      const answers = await Promise.allSettled(sent);
      const held = new Set(answers.some(({ status }) => status === "rejected") ? await onPage() : []);
      for (const [nth, answer] of answers.entries()) {
        const nodeId = left[nth] ?? 0;
        if (answer.status === "rejected" && held.has(nodeId)) throw answer.reason;
        done.add(nodeId);
      }
    }
    if (state === "plain") await devtools.detach();
  };
}

/** Least contrast of text; of large text, of what is drawn, and of what is disabled. */
const leastOfText = 4.5;
const leastOfOthers = 3;

const measure = `((isFocused) => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const colours = new Map();
  const colourOf = (text) => {
    const known = colours.get(text);
    if (known !== undefined) return known;
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = text;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    const colour = [red / 255, green / 255, blue / 255, alpha / 255];
    colours.set(text, colour);
    return colour;
  };
  const over = ([red, green, blue, alpha], below) => [red, green, blue].map((part, nth) => part * alpha + below[nth] * (1 - alpha));
  const layers = new Map();
  const layerOf = (element) => {
    if (!layers.has(element)) {
      const style = getComputedStyle(element);
      layers.set(element, { ground: colourOf(style.backgroundColor), opacity: Number(style.opacity), style });
    }
    return layers.get(element);
  };
  const chainOf = (element) => {
    const chain = [];
    for (let each = element; each !== null; each = each.parentElement) chain.unshift(each);
    return chain;
  };
  // What is seen where this colour is drawn on the last element of the chain; without a colour its ground.
  const seen = (chain, colour, nth = 0, below = [1, 1, 1]) => {
    if (nth === chain.length) return colour === null ? below : over(colour, below);
    const { ground, opacity } = layerOf(chain[nth]);
    const inside = seen(chain, colour, nth + 1, over(ground, below));
    return opacity === 1 ? inside : inside.map((part, at) => part * opacity + below[at] * (1 - opacity));
  };
  const light = (colour) => {
    const [red, green, blue] = colour.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [darker, lighter] = [light(one), light(other)].sort((first, second) => first - second);
    return (lighter + 0.05) / (darker + 0.05);
  };
  const modal = [...document.querySelectorAll("dialog:modal")].at(-1);
  const root = modal ?? document.body;
  const isShown = (element) => {
    if (!element.checkVisibility({ visibilityProperty: true })) return false;
    // Words for screen readers alone are in a box of a pixel.
    for (let each = element; each !== null; each = each.parentElement) {
      const { width, height } = each.getBoundingClientRect();
      if (width <= 1 && height <= 1 && getComputedStyle(each).display !== "contents") return false;
    }
    return true;
  };
  const nameOf = (element) => {
    const own = (each) => each.localName + [...each.classList].map((word) => "." + word).join("");
    const path = chainOf(element).slice(-3).map(own).join(" > ");
    return path + " “" + (element.textContent.trim() || element.getAttribute("aria-label") || element.value || "").slice(0, 24) + "”";
  };
  const found = new Map();
  const hold = (what, element, [colour, ground], least) => {
    const ratio = contrast(colour, ground);
    if (ratio >= least) return;
    const kind = what + " of " + nameOf(element).replaceAll(/\\d+/g, "0");
    if (!found.has(kind)) found.set(kind, what + " of " + nameOf(element) + ": " + ratio.toFixed(2) + " instead of " + least);
  };
  const isDisabled = (element) => element.closest(":disabled, [aria-disabled=true]") !== null;
  const leastFor = (element, { fontSize, fontWeight }) => {
    const size = Number.parseFloat(fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
    return isDisabled(element) || isLarge ? ${leastOfOthers} : ${leastOfText};
  };
  const text = (element, style, what = "text") => {
    const chain = chainOf(element);
    hold(what, element, [seen(chain, colourOf(style.color)), seen(chain, null)], leastFor(element, style));
  };
  let measured = 0;
  const isFilled = (node) => node.nodeType === Node.TEXT_NODE && /\\S/.test(node.data);
  for (const element of root.querySelectorAll("*")) {
    const isField = element.matches("input:not([type=checkbox], [type=radio], [type=file], [type=range]), select, textarea");
    const isSvg = element instanceof SVGElement;
    const hasText = !isSvg && !element.matches("option, script, style") && [...element.childNodes].some(isFilled);
    const isIcon = element.matches("svg.icon");
    const takesFocus = isFocused && element.matches("a[href], button, input, select, textarea, summary, [tabindex='0']") && !isDisabled(element);
    if (!(isField || hasText || isIcon || takesFocus) || !isShown(element)) continue;
    measured += 1;
    const { style } = layerOf(element);
    if (hasText || isField) text(element, style);
    if (isField && element.placeholder) text(element, getComputedStyle(element, "::placeholder"), "placeholder");
    if (isIcon) {
      const chain = chainOf(element);
      hold("icon", element, [seen(chain, colourOf(style.stroke)), seen(chain, null)], ${leastOfOthers});
    }
    const around = chainOf(element.parentElement);
    if (isField && !isDisabled(element)) {
      const edge = seen(around, colourOf(style.borderBlockEndColor));
      const hasEdge = style.borderBlockEndStyle !== "none" && Number.parseFloat(style.borderBlockEndWidth) > 0;
      hold("edge", element, [hasEdge ? edge : seen(around, null), seen(around, null)], ${leastOfOthers});
    }
    if (takesFocus) {
      // Where the ring is not the control's own, it is that of the row, the field or the dialog around it.
      const hasRing = (each) => layerOf(each).style.outlineStyle !== "none" && Number.parseFloat(layerOf(each).style.outlineWidth) >= 2;
      const ringed = [element, element.closest("tr"), element.closest("label"), element.closest("dialog")].find((each) => each !== null && hasRing(each));
      const ring = ringed === undefined ? null : layerOf(ringed).style;
      const ground = ring !== null && Number.parseFloat(ring.outlineOffset) < 0 ? chainOf(ringed) : chainOf((ringed ?? element).parentElement);
      hold("ring", element, [ring === null ? seen(ground, null) : seen(ground, colourOf(ring.outlineColor)), seen(ground, null)], ${leastOfOthers});
    }
  }
  return { measured, faults: [...found.values()] };
})`;

/** The least that a page shows: with less nothing was looked at. */
const measuredMin = 3;

/** What has too little contrast on the page as it is, of which all controls are in the state. */
export async function contrastFaults(page: Page, state: State): Promise<readonly string[]> {
  const { measured, faults } = await page.evaluate<{ readonly measured: number; readonly faults: readonly string[] }>(
    `${measure}(${state === "focus"})`,
  );
  return measured < measuredMin ? [`only ${measured} elements are shown`, ...faults] : faults;
}

/** What has too little contrast in any state, light and dark. */
export async function contrastFaultsOfStates(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  const force = await stateOf(page);
  for (const state of ["hover", "focus", "pressed", "plain"] as const) {
    await force(state);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      for (const fault of await contrastFaults(page, state)) faults.push(`${state}, ${colorScheme}: ${fault}`);
    }
  }
  return faults;
}
