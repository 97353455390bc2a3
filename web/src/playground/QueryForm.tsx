// The query and everything that narrows or changes the search.
import { useQuery } from "@tanstack/react-query";
import { AtSign, ImageUp, Search, SlidersHorizontal, X } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { projectsQuery } from "../api/queries";
import { certainQuery, useResources } from "../api/resources";
import { t } from "../strings";
import { Button, IconButton } from "../ui/Button";
import { FileIcon } from "../ui/FileIcon";
import { Picker } from "../ui/Picker";
import { FilterEditor } from "./FilterEditor";
import type { ChunkType, SearchForm } from "./request";
import { SearchOptions } from "./SearchOptions";

interface QueryFormProps {
  form: SearchForm;
  isBusy: boolean;
  onForm: (form: SearchForm) => void;
  onSearch: () => void;
  onPicture: (picture: File) => void;
}

const TYPES: readonly ChunkType[] = ["text", "table", "row", "image", "summary"];

export function QueryForm({ form, isBusy, onForm, onSearch, onPicture }: QueryFormProps): ReactNode {
  const [hasOptions, setOptions] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const change = (part: Partial<SearchForm>): void => onForm({ ...form, ...part });
  const toggle = (type: ChunkType): void =>
    change({ types: form.types.includes(type) ? form.types.filter((one) => one !== type) : [...form.types, type] });
  return (
    <form
      className="query-form card"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (form.query.trim()) onSearch();
      }}
    >
      <div className="query-line">
        <label className="search-field grow">
          <span className="visually-hidden">{t.playgroundPlaceholder}</span>
          <Search size={17} aria-hidden />
          <input
            className="input query-input"
            type="search"
            placeholder={t.playgroundPlaceholder}
            value={form.query}
            maxLength={8_000}
            autoFocus
            onChange={(event) => change({ query: event.target.value })}
          />
        </label>
        <input
          ref={chooser}
          className="visually-hidden"
          type="file"
          accept="image/*"
          tabIndex={-1}
          aria-hidden
          onChange={(event) => {
            const [picture] = event.target.files ?? [];
            event.target.value = "";
            if (picture) onPicture(picture);
          }}
        />
        <IconButton label={t.searchByPicture} onClick={() => chooser.current?.click()}>
          <ImageUp size={17} aria-hidden />
        </IconButton>
        <Button className="query-submit" kind="primary" type="submit" disabled={isBusy || !form.query.trim()}>
          {t.runSearch}
        </Button>
      </div>
      <div className="query-scope">
        <div className="row wrap" role="group" aria-label={t.chunkTypes}>
          {TYPES.map((type) => (
            <button
              key={type}
              type="button"
              className="pill"
              aria-pressed={form.types.includes(type)}
              onClick={() => toggle(type)}
            >
              {t.chunkType[type]}
            </button>
          ))}
        </div>
        <span className="grow" />
        <Scope form={form} onChange={change} />
        <Button small kind="quiet" aria-expanded={hasOptions} onClick={() => setOptions(!hasOptions)}>
          <SlidersHorizontal size={15} aria-hidden />
          {t.moreOptions}
        </Button>
      </div>
      {hasOptions && (
        <div className="query-options">
          <SearchOptions form={form} onChange={change} />
          <FilterEditor filters={form.filters} onFilters={(filters) => change({ filters })} />
        </div>
      )}
    </form>
  );
}

function Scope({ form, onChange }: { form: SearchForm; onChange: (part: Partial<SearchForm>) => void }): ReactNode {
  const projects = useQuery(projectsQuery());
  const [isPicking, setPicking] = useState(false);
  const resources = useResources(isPicking);
  const tagged = useQuery(certainQuery(form.resourceIds));
  const nameOf = (id: string): string => tagged.data?.find((resource) => resource.id === id)?.filename ?? "…";
  return (
    <>
      {form.resourceIds.map((id) => (
        <span key={id} className="tag scope-tag">
          <span className="truncate">{nameOf(id)}</span>
          <button
            type="button"
            aria-label={t.clearScope(nameOf(id))}
            onClick={() => onChange({ resourceIds: form.resourceIds.filter((one) => one !== id) })}
          >
            <X size={13} aria-hidden />
          </button>
        </span>
      ))}
      <Button small kind="quiet" onClick={() => setPicking(true)}>
        <AtSign size={15} aria-hidden />
        {t.tagDocument}
      </Button>
      {(projects.data?.length ?? 0) > 1 && (
        <label>
          <span className="visually-hidden">{t.project}</span>
          <select
            className="select select-small"
            value={form.project}
            onChange={(event) => onChange({ project: event.target.value })}
          >
            <option value="">{t.allProjects}</option>
            {projects.data?.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <Picker
        open={isPicking}
        title={t.tagDocument}
        placeholder={t.findDocument}
        onClose={() => setPicking(false)}
        options={(resources.data ?? []).map(({ id, filename, type }) => ({
          id,
          label: filename,
          icon: <FileIcon type={type} />,
          onPick: () => onChange({ resourceIds: [...new Set([...form.resourceIds, id])] }),
        }))}
      />
    </>
  );
}
