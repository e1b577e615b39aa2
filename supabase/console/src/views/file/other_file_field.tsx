import { useEffect, useState } from "preact/hooks";
import { PathField } from "../../components/path_field.tsx";
import { type FilePlace, replaceWith } from "../../state/router.ts";

/** The other file of a comparison; empty: this one. Takes effect on blur or Enter. */
export function OtherFileField({ place }: { readonly place: FilePlace }) {
  const { projectId, path, toPath = "" } = place;
  const [text, setText] = useState(toPath);
  useEffect(() => setText(toPath), [toPath]);
  const choose = (value: string) => {
    const other = value.trim();
    const isOther = other !== "" && other !== path;
    // The versions of the one say nothing of the other.
    replaceWith({
      ...place,
      tab: "compare",
      from: undefined,
      to: undefined,
      toPath: isOther ? other : undefined,
    });
  };
  return (
    <div class="other-file">
      <PathField
        projectId={projectId}
        label="With another file"
        value={text}
        onInput={setText}
        onChange={choose}
      />
    </div>
  );
}
