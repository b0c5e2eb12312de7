/** A card of the kit, and what its samples show. */
import type { ComponentChildren, FunctionComponent } from "preact";
import type { LookUp } from "../data/look-ups.ts";

export const Sample: FunctionComponent<{ readonly title: string; readonly children: ComponentChildren }> = ({
  title,
  children,
}) => (
  <section class="card" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

export const statuses = ["Draft", "Sent", "Confirmed", "Received", "On Hold"] as const;

export type Status = (typeof statuses)[number];

const choices = ["Assam", "Ceylon", "Darjeeling", "مسحوق القهوة", "緑茶の詰め合わせ"].map((title, index) => ({
  id: `kit_${index}`,
  title,
  hint: index % 2 === 0 ? `SKU-${index}` : null,
}));

/** Finds among a few, as the service finds among its own. */
export const teas: LookUp = (by) =>
  Promise.resolve(
    choices.filter(({ id, title }) =>
      "search" in by ? title.includes(by.search) : !("ids" in by) || by.ids.includes(id),
    ),
  );
