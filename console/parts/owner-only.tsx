/** What stands where a screen of owners would be for everybody else: why they do not see it. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { hasRole, sessionState } from "../data/session.ts";
import { texts } from "../texts.ts";

export const OwnerOnly: FunctionComponent<{ readonly why: string; readonly children: ComponentChildren }> = ({
  why,
  children,
}) => {
  if (hasRole("owner")) return <>{children}</>;
  const state = sessionState.value;
  return (
    <div class="empty">
      <h1>{texts.role.title}</h1>
      <p>{why}</p>
      {state.kind === "signed-in" ? <p class="quiet">{texts.role.yours(state.session.person.role)}</p> : null}
    </div>
  );
};
