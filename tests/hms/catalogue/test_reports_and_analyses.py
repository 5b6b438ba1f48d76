"""Reports are files of the record; analyses are a closed list, answered without names."""

import io
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from condor import ToolError
from condor_hms.catalogue.analytics import deidentified
from condor_hms.reports import FORMATS, Page, Part, render
from tests.hms.catalogue.desk import MELISSA, NICHOLAS, Desk

PAGE = Page(
    title="Discharge summary <b>",
    subject="Zoë Łukasz & Son, 47 y",
    made="30 Nov 2026, for Dr Okafor",
    parts=(
        Part(heading="Problems", lines=("CKD <script>alert(1)</script>", "HTN")),
        Part(heading="Stay", lines=()),
    ),
    footer="not signed",
)


@pytest.mark.parametrize("output", FORMATS)
async def test_a_report_is_made_and_made_again(desk: Desk, output: str) -> None:
    """The same record gives the same bytes, in a file of its owner alone; the record is not written."""
    args = {"patient": NICHOLAS, "template": "discharge", "output": output}
    before = await desk.search("DocumentReference", subject=NICHOLAS)
    card = await desk.preview("report.generate", args)
    assert card.summary.startswith("Generate the discharge summary as ")
    value = await desk.call("report.generate", args)
    assert await desk.call("report.generate", args, attempt=2) == value
    check_file(value)
    assert await desk.search("DocumentReference", subject=NICHOLAS) == before


def check_file(value: dict[str, Any]) -> None:
    """One file, whole, for its owner alone."""
    file = Path(value["file"])
    assert (file.stat().st_size, file.stat().st_mode & 0o777) == (value["bytes"], 0o600)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_pdf_is_one() -> None:
    """Its pages can be read by another program's rules: header, trailer, and no JavaScript."""
    content = render(PAGE, "pdf")
    assert content.startswith(b"%PDF-1.")
    assert content.rstrip().endswith(b"%%EOF")
    assert b"/JavaScript" not in content
    assert render(PAGE, "pdf") == content


def test_html_and_word_hold_text_and_no_markup() -> None:
    """What the record says stands there as text, whatever it looks like."""
    html = render(PAGE, "html").decode()
    assert "<script>" not in html
    assert "CKD &lt;script&gt;alert(1)&lt;/script&gt;" in html
    with zipfile.ZipFile(io.BytesIO(render(PAGE, "docx"))) as archive:
        document = ElementTree.fromstring(archive.read("word/document.xml"))
    words = [node.text for node in document.iter() if node.tag.endswith("}t")]
    assert words[:2] == ["Discharge summary <b>", "Zoë Łukasz & Son, 47 y"]
    assert "• Nothing on record." in words


async def test_a_template_has_its_parts(desk: Desk) -> None:
    """The medication chart shows allergies, what is taken and what is on hold."""
    args = {"patient": MELISSA, "template": "medication-chart", "output": "html"}
    card: Any = await desk.preview("report.generate", args)
    assert list(card.after) == ["Allergies", "Medicines", "On hold"]
    assert len(card.after["Medicines"]) == 4


@pytest.mark.parametrize("script", ["overdue-hba1c", "high-potassium", "antibiotic-use"])
async def test_an_analysis_names_nobody(desk: Desk, script: str) -> None:
    """Numbers, age bands and sex; no name, record number or reference of anybody."""
    value = await desk.call("analytics.run", {"script": script})
    said = desk.report("analytics.run", {"script": script}, value)
    people = await desk.search("Patient")
    secrets = {person["id"] for person in people} | {person["name"][0]["family"] for person in people}
    assert value["count"] == len(value["rows"]) > 0
    assert not [secret for secret in secrets | {"POP-", "Patient/"} if secret in str(value) or secret in said]


async def test_the_analyses_count_right(desk: Desk) -> None:
    """Checked against the record by hand: two high potassiums that nobody measured again within a week."""
    high = await desk.call("analytics.run", {"script": "high-potassium", "since": "2026-06-01"})
    assert [(row["label"], row["person"], row["value"]) for row in high["rows"]] == [
        ("P1", "person, 65 or older", 5.1),
        ("P2", "person, 65 or older", 5.2),
    ]
    none = await desk.call("analytics.run", {"script": "high-potassium", "since": "2026-11-30"})
    assert none["rows"] == []


async def test_an_analysis_numbers_patients_and_describes_nobody_alone(desk: Desk) -> None:
    """A label is a patient's, however many rows; a description fits three of those looked at, or nobody."""
    high = await desk.call("analytics.run", {"script": "high-potassium"})
    assert (high["count"], high["patients"], {row["label"] for row in high["rows"]}) == (5, 2, {"P1", "P2"})
    said = desk.report("analytics.run", {"script": "high-potassium"}, high)
    assert "5 rows about 2 patients" in said
    assert "each group fits 3 patients or more" in said
    # One patient with diabetes is overdue, and the only one of that age and sex who has it.
    overdue = await desk.call("analytics.run", {"script": "overdue-hba1c"})
    assert [(row["label"], row["person"]) for row in overdue["rows"]] == [("P1", "person")]


@pytest.mark.parametrize(
    ("ages", "described"),
    [
        ((71, 72, 78), "woman, 70-79"),
        ((71, 72, 81), "person, 65 or older"),
        ((71, 72, 40), "person"),
        ((71, 72), None),
        ((71, 71, None), "person"),
    ],
)
def test_a_group_fits_three(ages: tuple[int | None, ...], described: str | None) -> None:
    """The finest grouping in which everybody's group is large enough, the same for all; else no rows."""
    people = {f"Patient/{place}": {"sex": "female", "age": age} for place, age in enumerate(ages)}
    told = deidentified([{"patient": "Patient/0", "text": "x"}], people, people)
    assert [row["person"] for row in told["rows"]] == ([described] if described else [])
    assert ("note" in told) is (described != "woman, 70-79")
    assert (told["count"], told["patients"]) == (1, 1)


async def test_there_is_no_other_analysis(desk: Desk) -> None:
    """What a model makes up is no analysis, and no code."""
    with pytest.raises((KeyError, ToolError)):
        await desk.call("analytics.run", {"script": "SELECT * FROM patients"})
