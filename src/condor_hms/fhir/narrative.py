"""Whether a narrative is the XHTML that FHIR R4 allows: text to read, nothing that acts (txt-1, txt-2).

Source: https://hl7.org/fhir/R4/narrative.html#xhtml
"""

from __future__ import annotations

import re
import unicodedata
from html.entities import name2codepoint
from xml.etree import ElementTree

__all__ = ["narrative_fault"]

_XHTML = "{http://www.w3.org/1999/xhtml}"
#: "the basic HTML formatting elements described in chapters 7-11 (except section 4 of chapter 9) and 15 of
#: the HTML 4.0 standard, <a> elements (either name or href), images and internally contained style"
_NAMES = """
div p br hr h1 h2 h3 h4 h5 h6 span em strong dfn code samp kbd var cite abbr acronym blockquote q sub sup pre
ul ol li dl dt dd table caption thead tfoot tbody colgroup col tr th td a img address
tt i b big small s strike u font center bdo ins del
"""
_ELEMENTS = frozenset(_NAMES.split())
#: An attribute that runs something; and those that hold an address, which may.
_ACTING = re.compile(r"on[a-z]+")
_ADDRESSES = frozenset({"href", "src", "background", "cite", "longdesc", "usemap", "action", "formaction"})
#: What an address may begin with: what stands before a colon, but not in a path, a query or a fragment.
_SCHEME = re.compile(r"([^/?#\\]*?):")
_SCHEMES = frozenset({"http", "https", "mailto"})
#: Pictures that hold nothing but a picture: one of SVG or XHTML can hold a script.
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif)[;,]", re.IGNORECASE)
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})


def narrative_fault(div: str) -> tuple[str, str] | None:
    """The rule that a narrative breaks and what to do; None if it breaks none."""
    if "<!" in div.replace("<!--", ""):
        return "txt-1", "it holds a declaration: give a div of XHTML alone"
    try:
        root = ElementTree.fromstring(_ENTITY.sub(_character, div))  # noqa: S314 - without declarations, above
    except ElementTree.ParseError as error:
        return "xhtml", f"it is not well-formed XHTML ({error})"
    if root.tag != f"{_XHTML}div":
        return "txt-1", 'it must be a div with xmlns="http://www.w3.org/1999/xhtml"'
    for element in root.iter():
        fault = _element_fault(element)
        if fault is not None:
            return "txt-1", fault
    if not any(text.strip() for text in root.itertext()) and root.find(f".//{_XHTML}img") is None:
        return "txt-2", "it says nothing: give text or an image"
    return None


def _character(found: re.Match[str]) -> str:
    """A named character of HTML as itself; those of XML are left to the parser."""
    name = found[1]
    return found[0] if name in _XML_ENTITIES or name not in name2codepoint else chr(name2codepoint[name])


def _element_fault(element: ElementTree.Element) -> str | None:
    name = str(element.tag).removeprefix(_XHTML)
    if name not in _ELEMENTS:
        return f"<{name[:40]}> is not allowed in a narrative: only text, lists, tables, links and images are"
    for attribute, value in element.attrib.items():
        plain = attribute.rpartition("}")[2].lower()
        if _ACTING.fullmatch(plain):
            return f"the attribute {attribute[:40]} of <{name}> would run something: leave it out"
        if plain in _ADDRESSES and not _is_harmless(value, is_picture=plain == "src"):
            return (
                f"the attribute {attribute[:40]} of <{name}> would run something: give an address of http, "
                "https or mailto, # or a relative one, and as data: only image/png, jpeg or gif in src"
            )
    return None


def _is_harmless(address: str, *, is_picture: bool) -> bool:
    """Whether an address only leads somewhere; blanks and control characters count for nothing."""
    read = "".join(sign for sign in address if unicodedata.category(sign)[0] not in "CZ")
    scheme = _SCHEME.match(read)
    if scheme is None or scheme[1].lower() in _SCHEMES:
        return True
    return is_picture and _PICTURE.match(read) is not None
