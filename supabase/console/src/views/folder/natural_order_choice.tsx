/** @jsxImportSource preact */
/// <reference lib="dom" />
/** The choice of natural order, for a folder that is loaded whole: it is in the address, and remembered. */
import { useEffect } from "preact/hooks";
import { formatNumber } from "../../format.ts";
import { FILES_PER_PAGE } from "../../limits.ts";
import { prefersNaturalOrder } from "../../state/natural_order.ts";
import { type FilesPlace, replaceWith } from "../../state/router.ts";

interface Properties {
  readonly place: FilesPlace;
  /** Undefined until that is known. */
  readonly isWhole: boolean | undefined;
}

export function NaturalOrderChoice({ place, isWhole }: Properties) {
  const { sort } = place;
  const isRemembered = prefersNaturalOrder.value && sort === undefined && isWhole === true;
  useEffect(() => {
    if (isRemembered) replaceWith({ ...place, sort: "natural" });
  }, [isRemembered]);
  if (isWhole === undefined || (sort !== undefined && sort !== "natural")) return null;
  if (!isWhole) {
    return sort === undefined ? null : (
      <p class="hint">
        By name: natural order is for folders of up to {formatNumber(FILES_PER_PAGE)} files.
      </p>
    );
  }
  const choose = (isNatural: boolean) => {
    prefersNaturalOrder.value = isNatural;
    replaceWith({ ...place, sort: isNatural ? "natural" : undefined });
  };
  return (
    <label class="check" title="item-2 before item-10">
      <input
        type="checkbox"
        checked={sort === "natural"}
        onChange={({ currentTarget }) => choose(currentTarget.checked)}
      />
      Natural order
    </label>
  );
}
