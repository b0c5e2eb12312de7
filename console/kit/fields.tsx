/** Of the kit: what is written in. */
import type { FunctionComponent } from "preact";
import { useRef } from "preact/hooks";
import { Combobox } from "../parts/fields/combobox.tsx";
import { CopyField } from "../parts/fields/copy-field.tsx";
import { PasteRows } from "../parts/fields/paste-rows.tsx";
import { PickFilter, PickMany } from "../parts/fields/pick-filter.tsx";
import { ScanField } from "../parts/fields/scan-field.tsx";
import { Field } from "../parts/sending.tsx";
import { Sample, teas } from "./sample.tsx";

const wrong = new Map([["zone", "must be a time zone like Europe/Amsterdam"]]);

export const Fields: FunctionComponent = () => {
  const scanned = useRef<HTMLInputElement>(null);
  return (
    <>
      <Sample title="Fields">
        <div class="stack">
          <label>
            Text
            <input placeholder="Placeholder" />
          </label>
          <label>
            Filled
            <input value="Warehouse Keilehaven" readOnly />
          </label>
          <label class="notice">
            On a ground
            <input placeholder="Placeholder" />
          </label>
          <label>
            Disabled
            <input value="Nothing to change" disabled />
          </label>
          <Field name="zone" label="Refused" hint="The name of a city" wrong={wrong}>
            {(common) => <input {...common} value="Atlantis" readOnly />}
          </Field>
          <label>
            Choice
            <select>
              <option>Unpaid</option>
              <option>Paid</option>
            </select>
          </label>
          <label>
            No choice
            <select disabled>
              <option>Unpaid</option>
            </select>
          </label>
          <label>
            Long text
            <textarea placeholder="Placeholder" />
          </label>
          <fieldset class="ticks">
            <legend>Some of a few</legend>
            <div>
              <label>
                <input type="checkbox" checked readOnly /> Ticked
              </label>
              <label>
                <input type="checkbox" /> Not ticked
              </label>
              <label>
                <input type="radio" /> One of two
              </label>
            </div>
          </fieldset>
          <Field name="tick" label="A tick among fields" wrong={wrong}>
            {(common) => <input {...common} type="checkbox" />}
          </Field>
          <label>
            File
            <input type="file" />
          </label>
          <details open>
            <summary>Folded away</summary>
            <code>until it is pressed</code>
          </details>
          <label>
            Day
            <input type="date" value="2026-12-03" readOnly />
          </label>
          <Combobox
            label="Found by name"
            hint="Sample of the name"
            search={(search) => teas({ search })}
            choose={() => {}}
          />
          <PickFilter label="Not picked" value={null} lookUp={teas} choose={() => {}} />
          <PickFilter label="Picked" value="kit_1" lookUp={teas} choose={() => {}} />
          <PickMany
            label="Several"
            hint="Sample of the name"
            ids={["kit_0", "kit_3"]}
            lookUp={teas}
            change={() => {}}
          />
          <CopyField label="To copy" value="https://openpo.example/mcp" onCopied={() => {}} />
        </div>
      </Sample>
      <Sample title="Fields that are more than a field">
        <ScanField field={scanned} onScan={() => {}} />
        <PasteRows
          columns={[
            { name: "sku", head: /sku/, fault: "The code cannot be read." },
            { name: "quantity", kind: "count", head: /quantity/, fault: "The quantity is no number above 0." },
          ]}
          help="A code and a quantity in each row."
          check={(rows) =>
            Promise.resolve({ faults: [], action: `Add ${rows.length} lines`, run: () => Promise.resolve(true) })
          }
        />
      </Sample>
    </>
  );
};
