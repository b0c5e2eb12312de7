/** A sentence of the service, after its sense in the language of the page. */
import type { FunctionComponent } from "preact";
import { pageLanguage, sentence } from "../data/format.ts";
import { texts } from "../texts/en/texts.ts";
import { inWords } from "./fields/in-words.ts";

interface ServiceSaysProps {
  /** The sense of it; without one the sentence stands alone. */
  readonly sense?: string | undefined;
  readonly children: string;
}

export const ServiceSays: FunctionComponent<ServiceSaysProps> = ({ sense, children }) => {
  if (pageLanguage === "en" || sense === undefined) return <span lang="en">{children}</span>;
  return (
    <>
      {sentence(sense)}{" "}
      <span class="quiet" lang="en">
        {children}
      </span>
    </>
  );
};

interface Entry {
  readonly operation: string | null;
  readonly message: string;
}

/** Message of a change of an order: in the words of the service, or of a comment's author. */
export const EntrySays: FunctionComponent<{ readonly entry: Entry }> = ({ entry }) => {
  const { operation, message } = entry;
  return operation === "comment_add" ? (
    <>{message}</>
  ) : (
    <ServiceSays sense={deedOf(operation)}>{inWords(message)}</ServiceSays>
  );
};

/** The same in few words: in other languages than English it says only what kind of change it was. */
export const ShortEntry: FunctionComponent<{ readonly entry: Entry }> = ({ entry }) => {
  const deed = pageLanguage === "en" || entry.operation === "comment_add" ? undefined : deedOf(entry.operation);
  return deed === undefined ? <EntrySays entry={entry} /> : <>{deed}</>;
};

/** Deed of an operation in a person's words; undefined where there are none. */
export function deedOf(operation: string | null): string | undefined {
  const deeds: Readonly<Record<string, string>> = texts.activity.deeds;
  return operation === null ? undefined : deeds[operation];
}
