import { Fragment } from "preact";
import { visible } from "../format.ts";

/** A name or path. It may break into lines after its separators, so that no word breaks in its middle. */
export function Name({ text }: { readonly text: string }) {
  return (
    <>
      {visible(text).split(/(?<=[/_-])/).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  );
}
