"""Sixty queries with the filters that a reader sees in them: what the rules of `citewell.retrieve.selfquery` are measured on.

The rules were written with the first half in view, the second half only measured.
"""

from datetime import date

from citewell.retrieve.reading import QueryContext
from citewell.types import MetadataKey, MetadataKind


def _key(name: str, kind: MetadataKind, *frequent: str, timed: bool = False) -> MetadataKey:
    return MetadataKey(
        name=name, kinds=frozenset({kind}), files=9, frequent=tuple((text, 3) for text in frequent), timed=timed
    )


CONTEXT = QueryContext(
    today=date(2026, 11, 18),  # a Wednesday
    keys=(
        _key("tags", MetadataKind.TEXT, "outdoor", "night", "harbour", "portrait"),
        _key("camera", MetadataKind.TEXT, "A7", "Leica M6", "iPhone 15"),
        _key("status", MetadataKind.TEXT, "draft", "final", "in review"),
        _key("author", MetadataKind.TEXT, "Ama Mensah", "Jonas Weber"),
        _key("department", MetadataKind.TEXT, "Finance", "Legal"),
        _key("iso", MetadataKind.NUMBER),
        _key("fiscal_year", MetadataKind.NUMBER),
        _key("approved", MetadataKind.BOOLEAN),
        _key("timestamp", MetadataKind.DATE, timed=True),
        _key("published", MetadataKind.DATE),
    ),
)
# A query, the label of the filter on each field, and words that are left to search for.
FIRST_HALF: tuple[tuple[str, dict[str, str], str], ...] = (
    ("frames tagged 'outdoor' from last week showing a red car", {"tag": "tag: outdoor", "date": "date: 2026-11-09 to 2026-11-15"}, "a red car"),
    ("What does page 7 of Loan Policy.pdf say about limits?", {"page": "page: 7", "filename": "file: Policy.pdf"}, "limits"),
    ("photos uploaded yesterday", {"uploaded_at": "uploaded: 2026-11-17"}, "photos"),
    ("documents by author Mensah on insurance", {"metadata.author": "author: Ama Mensah"}, "insurance"),
    ("show me pictures taken with camera A7 at the harbour", {"metadata.camera": "camera: A7"}, "harbour"),
    ("contracts with status: draft", {"metadata.status": "status: draft"}, "contracts"),
    ("photos with iso over 800 of the night sky", {"metadata.iso": "iso > 800"}, "night sky"),
    ("notes I wrote since March about the budget", {"date": "date ≥ 2026-03-01"}, "budget"),
    ("is insurance mentioned in the spreadsheet?", {"extension": "extension: xlsx, xls, ods, csv, tsv"}, "insurance"),
    ("reports published before 2020-05-01 on water quality", {"metadata.published": "published < 2020-05-01"}, "water quality"),
    ("images taken between 2024-01-01 and 2024-03-31", {"date": "date: 2024-01-01 to 2024-03-31"}, "images"),
    ("approved invoices from Acme", {"metadata.approved": "approved: true"}, "Acme"),
    ("files that were changed in 2023", {"date": "date: 2023-01-01 to 2023-12-31"}, "files"),
    ("alle Fotos von gestern", {"date": "date: 2026-11-17"}, "Fotos"),
    ("Dokumente aus dem Jahr 2021 über Wasser", {"date": "date: 2021-01-01 to 2021-12-31"}, "Wasser"),
    ("frames with timestamp since 14:00 yesterday", {"metadata.timestamp": "timestamp ≥ 2026-11-17T14:00:00Z"}, "frames"),
    ("emails received this week about the merger", {"date": "date: 2026-11-16 to 2026-11-22"}, "merger"),
    ("everything in the Legal department's files", {}, "Legal"),
    ("screenshots from the past 3 days", {"date": "date: 2026-11-16 to 2026-11-18"}, "screenshots"),
    ("What was revenue in 2018?", {}, "revenue in 2018"),
    ("How did sales develop since March?", {}, "since March"),
    ("What happened last week at the harbour?", {}, "last week"),
    ("Who became the author of the 2019 study?", {}, "2019 study"),
    ("How are whales tagged with transmitters?", {}, "transmitters"),
    ("What does the report from 2018 say about inflation?", {"date": "date: 2018-01-01 to 2018-12-31"}, "inflation"),
    ("Which camera has the best battery?", {}, "camera"),
    ("How many pages did he write before 1905?", {}, "1905"),
    ("Is an iso of 800 grainy?", {}, "iso"),
    ("When was the bridge built, before 1900 or after 1910?", {}, "1900"),
    ("What is the status of the negotiations?", {}, "status"),
)  # fmt: skip
SECOND_HALF: tuple[tuple[str, dict[str, str], str], ...] = (
    ("all night photos of boats", {"tag": "tag: night"}, "boats"),
    ("pictures tagged night or harbour with boats", {"tag": "tag: night or tag: harbour"}, "boats"),
    ("find photos from June 2025 showing a lighthouse", {"date": "date: 2025-06-01 to 2025-06-30"}, "lighthouse"),
    ("what is on slide 4 of kickoff.pptx?", {"slide": "slide: 4", "filename": "file: kickoff.pptx"}, "what is"),
    ("messages sent last month about the lease", {"date": "date: 2026-10-01 to 2026-10-31"}, "lease"),
    ("frames recorded yesterday after 2 pm near the gate", {"date": "date ≥ 2026-11-17 14:00"}, "gate"),
    ("papers by Weber about turbines", {"metadata.author": "author: Jonas Weber"}, "turbines"),
    ("portraits shot on the Leica M6 camera", {"metadata.camera": "camera: Leica M6"}, "portraits"),
    ("documents where department is Finance", {"metadata.department": "department: Finance"}, "documents"),
    ("all contracts whose status is in review", {"metadata.status": "status: in review"}, "contracts"),
    ("images with iso between 100 and 400", {"metadata.iso": "iso: 100 to 400"}, "images"),
    ("files added since Monday", {}, "files"),
    ("files uploaded in the last two weeks about pensions", {"uploaded_at": "uploaded: 2026-11-05 to 2026-11-18"}, "pensions"),
    ("recordings dated 3 May 2024", {"date": "date: 2024-05-03"}, "recordings"),
    ("not approved documents", {"metadata.approved": "approved: false"}, "documents"),
    ("articles published after June 2023 on trade", {"metadata.published": "published ≥ 2023-07-01"}, "trade"),
    ("Bilder getaggt mit \"outdoor\" vom letzten Monat", {"tag": "tag: outdoor", "date": "date: 2026-10-01 to 2026-10-31"}, "Bilder"),
    ("Rechnungen, die gestern hochgeladen wurden", {"uploaded_at": "uploaded: 2026-11-17"}, "Rechnungen"),
    ("documents from 2019 to 2021 about zoning", {"date": "date: 2019-01-01 to 2021-12-31"}, "zoning"),
    ("the total in row 12 of sheet \"Loans\"", {"row": "row: 12", "sheet": "sheet: Loans"}, "total"),
    ("scans from two days ago", {"date": "date: 2026-11-16"}, "scans"),
    ("fiscal year: 2022, revenue by segment", {"metadata.fiscal_year": "fiscal year: 2022"}, "revenue"),
    ("How much was invested in the first quarter of 2022?", {}, "2022"),
    ("What did the president say yesterday?", {}, "yesterday"),
    ("Which treaties were signed between 1945 and 1950?", {}, "1945"),
    ("What is tagged as exempt under the tax code?", {}, "exempt"),
    ("Who was the photographer of the 1969 moon landing?", {}, "1969"),
    ("How has the population changed since 1990?", {}, "1990"),
    ("Are drafts legally binding?", {}, "binding"),
    ("Why did the department of finance raise rates in 2019?", {}, "2019"),
    ("What was written about Rome in 410?", {}, "Rome"),
)  # fmt: skip
