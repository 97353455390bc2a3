// The form of a filter in a dialog.
import type { ReactNode } from "react";
import { t } from "../strings";
import { Dialog } from "../ui/Dialog";
import { FilterForm } from "./FilterForm";
import type { Filter } from "./filters";

interface FilterDialogProps {
  open: boolean;
  present: readonly Filter[];
  onAdd: (filter: Filter) => void;
  onClose: () => void;
}

export function FilterDialog({ open, present, onAdd, onClose }: FilterDialogProps): ReactNode {
  return (
    <Dialog open={open} onClose={onClose} title={t.addFilter} description={t.filterText}>
      <FilterForm present={present} onAdd={onAdd} onClose={onClose} />
    </Dialog>
  );
}
