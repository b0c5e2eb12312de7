/** Of the kit: what is pressed, and the dialogs that it opens. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { AskFirst } from "../parts/dialogs/ask-first.tsx";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { MergeInto } from "../parts/dialogs/merge-into.tsx";
import { ShownOnce } from "../parts/dialogs/shown-once.tsx";
import { BackLink } from "../parts/frame/back-link.tsx";
import { Segments } from "../parts/frame/segments.tsx";
import { Icon } from "../parts/icon.tsx";
import { Pop } from "../parts/pop.tsx";
import { Sample, statuses, type Status, teas } from "./sample.tsx";

const openers = [
  ["question", "Dialog"],
  ["wide", "Wide dialog"],
  ["merge", "Two that are one"],
  ["secret", "Shown once"],
] as const;

export const Actions: FunctionComponent = () => {
  const word = useSignal<Status>("Sent");
  const opened = useSignal<(typeof openers)[number][0] | null>(null);
  const onClose = (): void => void (opened.value = null);
  return (
    <>
      <Sample title="Link back">
        <BackLink href="#kit">Orders</BackLink>
      </Sample>
      <Sample title="Buttons">
        <p class="buttons">
          <button type="button" class="primary">
            <Icon name="plus" /> Primary
          </button>
          <button type="button">Button</button>
          <button type="button" class="plain">
            Plain
          </button>
          <button type="button" class="danger">
            Danger
          </button>
          <button type="button" disabled>
            Disabled
          </button>
          <button type="button" class="primary" disabled>
            Disabled
          </button>
          <button type="button" class="plain" disabled>
            Disabled
          </button>
          <button type="button" class="danger" disabled>
            Disabled
          </button>
          <button type="button" class="icon-only" aria-label="Filter">
            <Icon name="list-filter" />
          </button>
          <a class="button" href="#kit">
            Link
          </a>
        </p>
        <p class="buttons">
          <Pop button="Menu" isMenu>
            <button type="button">Put on hold</button>
            <button type="button" class="danger">
              Cancel the order
            </button>
            <div class="why-not quiet">
              <p>Complete</p>
              <p>Receive goods first.</p>
            </div>
          </Pop>
          {openers.map(([name, title]) => (
            <button key={name} type="button" onClick={() => (opened.value = name)}>
              {title}
            </button>
          ))}
          <button type="button" class="toggle" aria-pressed="true">
            Pressed
          </button>
          <button type="button" class="toggle" aria-pressed="false">
            Not pressed
          </button>
          <button type="button" class="taken">
            <span>Status: Sent</span>
            <Icon name="x" />
          </button>
        </p>
        <Segments
          label="One of a few"
          words={statuses}
          titles={{
            Draft: "Draft",
            Sent: "Sent",
            Confirmed: "Confirmed",
            Received: "Received",
            "On Hold": "On hold",
          }}
          value={word.value}
          choose={(chosen) => (word.value = chosen)}
        />
      </Sample>

      {opened.value === "question" ? (
        <AskFirst
          title="Delete the draft?"
          text="Its lines go with it."
          action="Delete"
          run={() => Promise.resolve(null)}
          onClose={onClose}
        />
      ) : null}
      {opened.value === "wide" ? (
        <Dialog title="Seen whole" isWide onClose={onClose}>
          {(close) => (
            <>
              <p>Donaudampfschifffahrtsgesellschaftskapitänsmützenmanufaktur</p>
              <p class="actions">
                <button type="button" onClick={close}>
                  Cancel
                </button>
                <button type="button" class="primary" onClick={close}>
                  Save
                </button>
              </p>
            </>
          )}
        </Dialog>
      ) : null}
      {opened.value === "merge" ? (
        <MergeInto
          title="Merge suppliers"
          stays="Which one stays"
          action="Merge"
          search={(search) => teas({ search })}
          questionOf={({ title }) => Promise.resolve({ title: `Into ${title}?`, text: "Its orders go over." })}
          merge={() => Promise.resolve(null)}
          onClose={onClose}
        />
      ) : null}
      {opened.value === "secret" ? (
        <ShownOnce title="The new key" label="Key" secret="opo_0123456789abcdef0123456789abcdef" onClose={onClose}>
          {() => <p class="quiet">It begins to work at once.</p>}
        </ShownOnce>
      ) : null}
    </>
  );
};
