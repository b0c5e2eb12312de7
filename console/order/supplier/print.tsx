/** An order as its supplier reads it, to look at and to print: what the PDF shows, from the same sheet. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { Output } from "../../../client/index.ts";
import { useReading } from "../../data/reading.ts";
import { shopId } from "../../data/session.ts";
import { ProblemNotice } from "../../parts/problem.tsx";
import { hrefOf, listHref, place } from "../../router.ts";
import { documentTexts as words } from "../../texts/en/order/documents.ts";
import { texts } from "../../texts/en/texts.ts";
import { nameRecord } from "../../title.ts";
import { Skeleton } from "../../parts/skeleton.tsx";

type Sheet = Output<"purchase_order_document">["document"];

/** The path names one order, or several that are printed one after another. */
export const PrintScreen: FunctionComponent = () => {
  const [, named = ""] = place.value.steps;
  return <Printed key={named} named={named} />;
};

const Printed: FunctionComponent<{ readonly named: string }> = ({ named }) => {
  const ids = named.split(",");
  const [only, ...others] = ids;
  const isOne = others.length === 0 && only !== undefined;
  const sheets = useSignal<ReadonlyMap<string, Sheet>>(new Map());
  const note = (id: string, sheet: Sheet): void => {
    sheets.value = new Map([...sheets.value, [id, sheet]]);
    if (isOne) nameRecord(id, sheet.poNumber);
    else nameRecord(named, ids.map((each) => sheets.value.get(each)?.poNumber ?? "…").join(", "));
  };
  return (
    <>
      <p class="back unprinted">
        <a href={isOne ? hrefOf("orders", only) : listHref("orders")}>{isOne ? words.back : texts.order.back}</a>
      </p>
      {sheets.value.size < ids.length ? null : (
        <>
          <p class="buttons unprinted">
            <button type="button" onClick={() => print()}>
              {words.print}
            </button>
          </p>
          <p class="quiet unprinted">{words.hint}</p>
        </>
      )}
      {ids.map((id) => (
        <Paper key={id} purchaseOrderId={id} note={note} />
      ))}
    </>
  );
};

interface PaperProps {
  readonly purchaseOrderId: string;
  readonly note: (id: string, sheet: Sheet) => void;
}

const Paper: FunctionComponent<PaperProps> = ({ purchaseOrderId, note }) => {
  const { data, problem, again } = useReading("purchase_order_document", { shopId: shopId(), purchaseOrderId });
  useEffect(() => {
    if (data !== null) note(purchaseOrderId, data.document);
  }, [data]);
  return (
    <>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data === null && problem === null ? <Skeleton /> : null}
      {data === null ? null : <SheetView sheet={data.document} />}
    </>
  );
};

const SheetView: FunctionComponent<{ readonly sheet: Sheet }> = ({ sheet }) => (
  <article class={`sheet ${sheet.paper.toLowerCase()}`} lang={sheet.language}>
    <header>
      {sheet.logo === null ? (
        <p class="buyer" dir="auto">
          {sheet.buyerName}
        </p>
      ) : (
        <img src={`data:${sheet.logo.contentType};base64,${sheet.logo.base64}`} alt={sheet.buyerName} />
      )}
      <div class="title">
        <h1>{sheet.title}</h1>
        <p class="number">{sheet.poNumber}</p>
        {sheet.marking === null ? null : <p class="marking">{sheet.marking}</p>}
        {sheet.replaces === null ? null : <p>{sheet.replaces}</p>}
      </div>
    </header>
    <div class="parties">
      {sheet.parties.map(({ heading, lines }) => (
        <section key={heading}>
          <h2>{heading}</h2>
          {lines.map((line, index) => (
            <p key={index} dir="auto">
              {line}
            </p>
          ))}
        </section>
      ))}
    </div>
    <dl>
      {sheet.facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
    {sheet.rows.length === 0 ? <p>{sheet.noLines}</p> : <SheetLines sheet={sheet} />}
    {sheet.totals.length === 0 ? null : (
      <table class="sums">
        <tbody>
          {sheet.totals.map(({ label, value }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
    {sheet.remarks.map(({ heading, text }, index) => (
      <section key={index} class="remark">
        {heading === null ? null : <h2>{heading}</h2>}
        <p dir="auto">{text}</p>
      </section>
    ))}
    <footer>
      <p>{sheet.footer}</p>
      <p>
        {sheet.poNumber} · {sheet.versionText}
      </p>
    </footer>
  </article>
);

const SheetLines: FunctionComponent<{ readonly sheet: Sheet }> = ({ sheet: { title, columns, rows } }) => (
  <div class="wide" tabIndex={0} role="region" aria-label={title}>
    <table class="lines">
      <thead>
        <tr>
          {columns.map(({ id, label, isFigure }) => (
            <th key={id} scope="col" class={isFigure ? "figure" : undefined}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ cells, details }, row) => (
          <tr key={row}>
            {columns.map(({ id, isFigure }, index) => (
              <td key={id} class={isFigure ? "figure" : undefined}>
                {cells[index]}
                {id === "description" ? details.map((detail) => <small key={detail}>{detail}</small>) : null}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
