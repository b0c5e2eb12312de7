/** Notice in the place of a screen of owners for everybody else: why they do not see it. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { hasRole, signedIn } from "../data/session.ts";
import { texts } from "../texts/en/texts.ts";

export const OwnerOnly: FunctionComponent<{ readonly why: string; readonly children: ComponentChildren }> = ({
  why,
  children,
}) => {
  if (hasRole("owner")) return <>{children}</>;
  const session = signedIn();
  return (
    <div class="empty">
      <h1>{texts.role.title}</h1>
      <p>{why}</p>
      {session === null ? null : <p class="quiet">{texts.role.yours(texts.role.names[session.person.role])}</p>}
    </div>
  );
};
