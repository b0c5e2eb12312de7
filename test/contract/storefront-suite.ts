/**
 * The tests that every storefront must pass, whatever its platform (F1–F4). An adapter calls this suite with a platform that has the
 * fixture's variants.
 */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type ItemResult, type Storefront, StorefrontError } from "../../src/storefront/storefront.ts";
import { money, quantity } from "../support/goods.ts";

/** A storefront whose variants have the states that the fixture names. At the start levels are 0, and there are no tags and costs. */
interface StorefrontFixture {
  readonly storefront: Storefront;
  /** Twelve active variants. Each has its own product, except the last two, which share one. */
  readonly active: readonly string[];
  /** 500 more. */
  readonly many: readonly string[];
  readonly inactive: string;
  readonly deleted: string;
  readonly unsyncable: string;
  readonly locations: readonly [string, string];
  /** Makes the next call of this name take effect and its answer get lost. */
  loseNextAnswer(call: "changeOnHand" | "writeCosts"): Promise<void>;
  /** Reads the state directly from the platform. */
  onHand(variantId: string, locationId: string): Promise<number>;
  incoming(variantId: string, locationId: string): Promise<number>;
  tags(variantId: string): Promise<readonly string[]>;
  /** Adds a tag to the product as the merchant does. */
  tagByHand(variantId: string, tag: string): Promise<void>;
  dispose(): Promise<void>;
}

const outcomes = (results: readonly ItemResult[]): readonly string[] => results.map((result) => result.outcome);

export function storefrontSuite(name: string, open: () => Promise<StorefrontFixture>): void {
  suite(`storefront: ${name}`, () => {
    let fixture: StorefrontFixture;
    before(async () => {
      fixture = await open();
    });
    after(() => fixture.dispose());

    let references = 0;
    const context = () => ({ reference: `ref-${(references += 1)}`, documentUri: "openpo://shops/demo/test" });
    const variant = (index: number): string => fixture.active[index] ?? assert.fail("the fixture has too few variants");
    /** A fraction where the platform counts them, else a whole piece. */
    const part = (fraction: number): number => (fixture.storefront.capabilities.wholeQuantitiesOnly ? 1 : fraction);
    const change = (variantId: string, units: number, location: 0 | 1 = 0) => ({
      variantId,
      locationId: fixture.locations[location],
      delta: quantity(units),
    });

    test("a look-up returns the state of each variant, in the requested order", async () => {
      const { storefront, inactive, deleted, unsyncable } = fixture;
      assert.deepEqual(await storefront.checkVariants([deleted, variant(0), unsyncable, inactive, "never heard of"]), [
        "deleted",
        "active",
        "unsyncable",
        "inactive",
        "deleted",
      ]);
    });

    test("calls with an empty list return an empty list", async () => {
      const { storefront } = fixture;
      assert.deepEqual(await storefront.checkVariants([]), []);
      assert.deepEqual(await storefront.changeOnHand([], context()), []);
      assert.deepEqual(await storefront.setIncoming([], context()), []);
      assert.deepEqual(await storefront.writeCosts([], context()), []);
      assert.deepEqual(await storefront.readCosts([]), []);
      assert.deepEqual(await storefront.setTags([], context()), []);
    });

    test("an inactive variant is activated; a deleted or unsyncable one is not", async () => {
      const { storefront, inactive, deleted, unsyncable } = fixture;
      const results = await storefront.activateVariants([inactive, deleted, unsyncable, variant(0)]);
      assert.deepEqual(outcomes(results), ["applied", "rejected", "rejected", "unchanged"]);
      assert.deepEqual(await storefront.checkVariants([inactive, deleted, unsyncable]), [
        "active",
        "deleted",
        "unsyncable",
      ]);
    });

    test("a change is added to the on-hand quantity, at its location only", async () => {
      const { storefront, locations } = fixture;
      await storefront.changeOnHand([change(variant(0), 5, 0), change(variant(0), 2, 1)], context());
      await storefront.changeOnHand([change(variant(0), -part(1.5), 0)], context());
      assert.equal(await fixture.onHand(variant(0), locations[0]), 5 - part(1.5));
      assert.equal(await fixture.onHand(variant(0), locations[1]), 2);
    });

    test("a repeated reference changes nothing and gets the same answer (F1)", async () => {
      const { storefront, locations, deleted } = fixture;
      const again = context();
      const changes = [change(variant(1), 5), change(deleted, 1)];
      const first = await storefront.changeOnHand(changes, again);
      assert.deepEqual(outcomes(first), ["applied", "rejected"]);
      assert.deepEqual(await storefront.changeOnHand(changes, again), first);
      assert.equal(await fixture.onHand(variant(1), locations[0]), 5);
    });

    test("two simultaneous calls with one reference take effect once", async () => {
      const { storefront, locations } = fixture;
      const once = context();
      const send = () => storefront.changeOnHand([change(variant(2), 4)], once);
      await Promise.allSettled([send(), send(), send()]);
      await send();
      assert.equal(await fixture.onHand(variant(2), locations[0]), 4);
    });

    test("a known reference with other items is refused and changes nothing", async () => {
      const { storefront, locations } = fixture;
      const used = context();
      await storefront.changeOnHand([change(variant(3), 1)], used);
      await assert.rejects(storefront.changeOnHand([change(variant(3), 9)], used), StorefrontError);
      assert.equal(await fixture.onHand(variant(3), locations[0]), 1);
    });

    test("a lost answer says that the change may have taken effect, and after a retry it has, once (F3)", async () => {
      const { storefront, locations } = fixture;
      const lost = context();
      await fixture.loseNextAnswer("changeOnHand");
      await assert.rejects(
        storefront.changeOnHand([change(variant(4), 5)], lost),
        (error) => error instanceof StorefrontError && error.landed === "maybe",
      );
      assert.deepEqual(outcomes(await storefront.changeOnHand([change(variant(4), 5)], lost)), ["applied"]);
      assert.equal(await fixture.onHand(variant(4), locations[0]), 5);
    });

    test("one bad item of 251 leaves the other 250 applied (F2)", async () => {
      const { storefront, locations, unsyncable } = fixture;
      const changes = Array.from({ length: 251 }, (_, index) =>
        change(index === 125 ? unsyncable : variant(5), index === 125 ? 1 : part(0.001)),
      );
      const results = await storefront.changeOnHand(changes, context());
      assert.equal(results.length, 251);
      assert.deepEqual(
        results.flatMap((result, index) => (result.outcome === "applied" ? [] : [[index, result.outcome]])),
        [[125, "rejected"]],
      );
      assert.equal(await fixture.onHand(variant(5), locations[0]), 250 * part(0.001));
    });

    /** Reads some at a time: hundreds at once would wait for one shop's turn, and on a slow machine the last ones are refused. */
    const onHandOf = async (variantIds: readonly string[]): Promise<readonly number[]> => {
      const units: number[] = [];
      for (let from = 0; from < variantIds.length; from += 30) {
        const some = variantIds.slice(from, from + 30);
        units.push(...(await Promise.all(some.map((id) => fixture.onHand(id, fixture.locations[1])))));
      }
      return units;
    };

    for (const count of [0, 1, 249, 250, 251, 500])
      test(`a change of ${count} variants lands whole, once, and is read back`, async () => {
        const { storefront, many } = fixture;
        const variantIds = many.slice(0, count);
        const before = await onHandOf(variantIds);
        const changes = variantIds.map((id, index) => change(id, index + 1, 1));
        const made = context();
        const results = await storefront.changeOnHand(changes, made);
        assert.deepEqual(
          outcomes(results),
          variantIds.map(() => "applied"),
        );
        assert.deepEqual(await storefront.changeOnHand(changes, made), results);
        const after = await onHandOf(variantIds);
        assert.deepEqual(
          after,
          before.map((units, index) => units + index + 1),
        );
        assert.deepEqual(
          await storefront.readOnHand(changes, made),
          after.map((units) => ({ verified: true, onHand: quantity(units) })),
        );
      });

    test("a fraction of a piece is counted, or refused for its line alone with what to do", async () => {
      const { storefront, locations } = fixture;
      const [fractional, whole] = [fixture.many[498] ?? "", fixture.many[499] ?? ""];
      const [result, other] = await storefront.changeOnHand([change(fractional, 0.5), change(whole, 2)], context());
      assert.equal(other?.outcome, "applied");
      assert.equal(await fixture.onHand(whole, locations[0]), 2);
      if (storefront.capabilities.wholeQuantitiesOnly) {
        assert.ok(result?.outcome === "rejected");
        assert.match(result.message, /whole/);
        assert.equal(await fixture.onHand(fractional, locations[0]), 0);
      } else {
        assert.equal(result?.outcome, "applied");
        assert.equal(await fixture.onHand(fractional, locations[0]), 0.5);
      }
    });

    test("a read that is given up before it begins asks nothing", async () => {
      const { storefront } = fixture;
      const context = { signal: AbortSignal.abort() };
      await assert.rejects(storefront.checkVariants([fixture.deleted], context), StorefrontError);
    });

    test("a change can be read back by its own reference only", async () => {
      const { storefront } = fixture;
      const made = context();
      const changes = [change(variant(6), 3)];
      await storefront.changeOnHand(changes, made);
      assert.deepEqual(await storefront.readOnHand(changes, made), [{ verified: true, onHand: quantity(3) }]);
      const [unmade] = await storefront.readOnHand(changes, context());
      assert.equal(unmade?.verified, false);
    });

    test("incoming is set, not added; setting 0 for a deleted variant does nothing", async () => {
      const { storefront, locations, deleted } = fixture;
      const [locationId] = locations;
      const set = (variantId: string, units: number) =>
        storefront.setIncoming([{ variantId, locationId, incoming: quantity(units) }], context());
      assert.deepEqual(outcomes(await set(variant(7), 8)), ["applied"]);
      assert.deepEqual(outcomes(await set(variant(7), 8)), ["unchanged"]);
      assert.equal(await fixture.incoming(variant(7), locationId), 8);
      assert.deepEqual(outcomes(await set(variant(7), 0)), ["applied"]);
      assert.equal(await fixture.incoming(variant(7), locationId), 0);
      assert.deepEqual(outcomes(await set(deleted, 0)), ["unchanged"]);
      assert.deepEqual(outcomes(await set(deleted, 1)), ["rejected"]);
    });

    test("a unit cost keeps four decimals and can be read back; of a list only the bad items are rejected", async () => {
      const { storefront, deleted, unsyncable } = fixture;
      const costs = [variant(8), deleted, unsyncable].map((variantId) => ({ variantId, unitCost: money(12.3456) }));
      assert.deepEqual(outcomes(await storefront.writeCosts(costs, context())), ["applied", "rejected", "rejected"]);
      assert.deepEqual(await storefront.readCosts([deleted, variant(8), variant(9)]), [null, money(12.3456), null]);
    });

    test("a cost whose answer was lost is written by a retry, or found already written", async () => {
      const { storefront } = fixture;
      const cost = [{ variantId: variant(9), unitCost: money(7) }];
      await fixture.loseNextAnswer("writeCosts");
      await assert.rejects(storefront.writeCosts(cost, context()), StorefrontError);
      assert.notEqual((await storefront.writeCosts(cost, context()))[0]?.outcome, "rejected");
      assert.deepEqual(await storefront.readCosts([variant(9)]), [money(7)]);
    });

    test("a tag belongs to the product, and the merchant's own tags stay", async () => {
      const { storefront } = fixture;
      const [one, other] = [variant(10), variant(11)];
      await fixture.tagByHand(one, "summer");
      const tag = (variantId: string, present: boolean) =>
        storefront.setTags([{ variantId, tag: "on order", present }], context());
      assert.deepEqual(outcomes(await tag(one, true)), ["applied"]);
      assert.deepEqual(await fixture.tags(other), ["on order", "summer"]);
      assert.deepEqual(outcomes(await tag(other, true)), ["unchanged"]);
      assert.deepEqual(outcomes(await tag(other, false)), ["applied"]);
      assert.deepEqual(await fixture.tags(one), ["summer"]);
    });
  });
}
