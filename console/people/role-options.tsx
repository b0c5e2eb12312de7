/** The roles to choose from, with what each may do. */
import type { FunctionComponent } from "preact";
import { roles } from "../data/session.ts";
import { peopleTexts } from "../texts/en/shop/people.ts";

export const RoleOptions: FunctionComponent = () => (
  <>
    {roles.map((role) => (
      <option key={role} value={role}>
        {peopleTexts.roles[role]}
      </option>
    ))}
  </>
);
