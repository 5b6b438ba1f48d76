"""Typesetting a report: PDF, HTML, Word. The same page gives the same bytes.

Rule: every text is data. It is escaped for its format, and nothing of it is read as markup.
"""

from __future__ import annotations

import io
import zipfile
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from condor_hms.reports.page import Page

__all__ = ["FORMATS", "render"]

_EMPTY = "Nothing on record."
#: A zip entry needs a time; a fixed one keeps the bytes the same.
_ZIP_TIME = (2000, 1, 1, 0, 0, 0)


def render(page: Page, output: str) -> bytes:
    """The report as a file of a format of ``FORMATS``."""
    return FORMATS[output][1](page)


def _pdf(page: Page) -> bytes:
    from reportlab.lib.enums import TA_LEFT
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer

    # Bitstream Vera comes with the library; the fonts of PDF itself know no letters outside Latin-1.
    for name, file in (("Vera", "Vera.ttf"), ("VeraBd", "VeraBd.ttf")):
        if name not in pdfmetrics.getRegisteredFontNames():
            pdfmetrics.registerFont(TTFont(name, file))

    def style(size: float, font: str = "Vera", **rest: float) -> ParagraphStyle:
        leading = size * 1.4
        return ParagraphStyle(
            f"{font}{size}", fontName=font, fontSize=size, leading=leading, alignment=TA_LEFT, **rest
        )

    text, small = style(9), style(7)
    story: list[object] = [
        Paragraph(escape(page.title), style(15, "VeraBd")),
        Paragraph(escape(page.subject), style(10)),
        Paragraph(escape(page.made), small),
        Spacer(1, 4 * mm),
    ]
    for part in page.parts:
        story.append(Paragraph(escape(part.heading), style(11, "VeraBd", spaceBefore=8, spaceAfter=3)))
        story += [Paragraph("• " + escape(line), text) for line in part.lines or (_EMPTY,)]
    story += [Spacer(1, 6 * mm), Paragraph(escape(page.footer), small)]
    target = io.BytesIO()
    # invariant: no date and no random id in the file.
    document = SimpleDocTemplate(
        target,
        pagesize=A4,
        title=page.title,
        author="Condor",
        leftMargin=20 * mm,
        rightMargin=20 * mm,
        topMargin=18 * mm,
        bottomMargin=18 * mm,
        invariant=1,
    )
    document.build(story)
    return target.getvalue()


def _html(page: Page) -> bytes:
    parts = "".join(
        f"<section><h2>{escape(part.heading)}</h2><ul>"
        + "".join(f"<li>{escape(line)}</li>" for line in part.lines or (_EMPTY,))
        + "</ul></section>"
        for part in page.parts
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(page.title)}</title></head><body><h1>{escape(page.title)}</h1>"
        f"<p>{escape(page.subject)}</p><p><small>{escape(page.made)}</small></p>{parts}"
        f"<footer><small>{escape(page.footer)}</small></footer></body></html>\n"
    ).encode()


def _docx(page: Page) -> bytes:
    """A WordprocessingML package of the least parts that ECMA-376 asks for."""

    def paragraph(text: str, *, bold: bool = False, half_points: int = 20) -> str:
        weight = "<w:b/>" if bold else ""
        return (
            f'<w:p><w:r><w:rPr>{weight}<w:sz w:val="{half_points}"/></w:rPr>'
            f'<w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'
        )

    body = [
        paragraph(page.title, bold=True, half_points=32),
        paragraph(page.subject),
        paragraph(page.made, half_points=16),
    ]
    for part in page.parts:
        body.append(paragraph(part.heading, bold=True, half_points=24))
        body += [paragraph(f"• {line}") for line in part.lines or (_EMPTY,)]
    body.append(paragraph(page.footer, half_points=16))
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    document = f'<w:document xmlns:w="{_WORD}"><w:body>{"".join(body)}</w:body></w:document>'
    files = {
        "[Content_Types].xml": f'{head}<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{_WORD_TYPE}"/></Types>',
        "_rels/.rels": f'{head}<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": head + document,
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _ZIP_TIME), content)
    return target.getvalue()


_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"

#: Format → what a person calls it, and what makes it.
FORMATS: Mapping[str, tuple[str, Callable[[Page], bytes]]] = {
    "pdf": ("PDF", _pdf),
    "html": ("HTML", _html),
    "docx": ("Word", _docx),
}
