/** A value of any field as a person reads it: names in place of ids, days and numbers as their country writes them. */
import type { FunctionComponent } from "preact";
import { day, exactNumber, fieldName, moment, statusName } from "../../data/format.ts";
import { locations, type LookUp, suppliers } from "../../data/look-ups.ts";
import { texts } from "../../texts/en/texts.ts";
import { usePickedName } from "./picked-name.ts";

const lookUps: Readonly<Record<string, LookUp>> = { supplierId: suppliers, locationId: locations };

interface FieldValueProps {
  readonly field: string;
  readonly value: unknown;
  /** Stands for what is empty. */
  readonly none: string;
}

export const FieldValue: FunctionComponent<FieldValueProps> = ({ field, value, none }) => {
  const lookUp = lookUps[field];
  return lookUp !== undefined && typeof value === "string" && value !== "" ? (
    <Named id={value} lookUp={lookUp} />
  ) : (
    <>{shown(field, value, none)}</>
  );
};

const Named: FunctionComponent<{ readonly id: string; readonly lookUp: LookUp }> = ({ id, lookUp }) => (
  <>{usePickedName(id, lookUp) ?? id}</>
);

function shown(field: string, value: unknown, none: string): string {
  if (value === null || value === undefined || value === "") return none;
  if (typeof value === "number") return exactNumber(value);
  if (typeof value === "boolean") return value ? texts.orderActions.yes : texts.orderActions.no;
  if (Array.isArray(value))
    return value.length === 0 ? none : value.map((each: unknown) => shown(field, each, none)).join("; ");
  if (typeof value === "object") {
    const members = Object.entries(value).filter(([, each]) => each !== null && each !== "");
    const named = members.map(([name, each]) => `${fieldName(name)}: ${shown(name, each, none)}`);
    return named.length === 0 ? none : named.join(", ");
  }
  if (typeof value !== "string") return none;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return day(value);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return moment(value);
  // What somebody typed may be the name of a status too.
  return /stat(?:e|us)$/i.test(field) ? statusName(value) : value;
}
