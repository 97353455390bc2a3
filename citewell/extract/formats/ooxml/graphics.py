"""Charts, diagrams and pictures referenced by a part, emitted in place."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.errors import ExtractionError
from citewell.extract.core.emission import emit_table
from citewell.extract.core.pictures import Pictures
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.core.sink import Sink
from citewell.extract.formats.ooxml.charts import read_chart
from citewell.extract.formats.ooxml.package import OfficePackage, attribute
from citewell.types import ElementType, Locator


class Graphics:
    """Emits the drawings of one document. `part` is the part whose relationships apply."""

    def __init__(self, package: OfficePackage, sink: Sink) -> None:
        self._package = package
        self._sink = sink
        self._pictures = Pictures(sink)

    def finish(self) -> None:
        """Must be called after the last picture."""
        self._pictures.finish()

    def target(self, part: str, reference: str | None) -> str | None:
        """Returns the existing part that a relationship id points to; None for external and broken ones."""
        found = self._package.relationships(part).get(reference or "")
        return found.target if found is not None and not found.external and found.target in self._package else None

    def picture(self, part: str, element: XmlElement, place: Locator, description: str) -> None:
        """Emits the picture of a `blip` or `imagedata` element."""
        reference = attribute(element, "embed") or attribute(element, "id")
        target = self.target(part, reference)
        if target is None:
            if reference or attribute(element, "link"):
                self._sink.skip("A picture that is not in the file (linked or missing).")
            return
        try:
            data = self._package.read(target)
        except ExtractionError as error:
            self._sink.skip(f"The picture {target} was left out: {error.message}")
            return
        self._pictures.emit(data, target.rsplit("/", 1)[-1], place, description)

    def chart(self, part: str, element: XmlElement, place: Locator) -> None:
        """Emits a chart's title, and its data as a table."""
        root = self._package.optional_xml(self.target(part, attribute(element, "id")), self._sink)
        if root is None:
            return
        chart = read_chart(root)
        if chart.title:
            self._sink.emit(ElementType.CAPTION, chart.title, place, metadata={"chart": True})
        if chart.table is not None:
            emit_table(self._sink, chart.table, place, {"chart": True})

    def diagram(self, part: str, element: XmlElement, place: Locator) -> None:
        """Emits the text of a SmartArt diagram, one list item per shape."""
        root = self._package.optional_xml(self.target(part, attribute(element, "dm")), self._sink)
        for point in root.iter() if root is not None else ():
            if local_name(point) == "pt":
                text = "".join(inner.text or "" for inner in point.iter() if local_name(inner) == "t").strip()
                if text:
                    self._sink.emit(ElementType.LIST_ITEM, text, place, level=1)


def chosen(alternate: XmlElement) -> XmlElement:
    """Returns the branch of `mc:AlternateContent` to read: the first that is not empty."""
    branches = [branch for branch in alternate if local_name(branch) in ("Choice", "Fallback")]
    return next((branch for branch in branches if len(branch)), alternate)


def visible(element: XmlElement, closed: frozenset[str] = frozenset()) -> Iterator[XmlElement]:
    """Yields descendants in order, one branch of each alternative, without entering elements named in `closed`."""
    for inner in element:
        if local_name(inner) == "AlternateContent":
            yield from visible(chosen(inner), closed)
            continue
        yield inner
        if local_name(inner) not in closed:
            yield from visible(inner, closed)


def description_of(properties: XmlElement | None) -> str:
    """Returns the alternative text of a drawing, from its `docPr` or `cNvPr`."""
    return ((properties.get("descr") or properties.get("title") or "") if properties is not None else "").strip()
